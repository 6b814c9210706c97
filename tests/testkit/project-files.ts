import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Every file of the repository that is committed or not ignored, relative to the root. */
export function projectFiles(folder = root): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return [...new Set(listed.split('\0'))].filter((file) => file && existsSync(join(folder, file))).sort();
}

/** The text of a file. A file with a NUL byte is binary and reads as empty. */
export function textOf(file: string): string {
  const bytes = readFileSync(join(root, file));
  return bytes.includes(0) ? '' : bytes.toString('utf8');
}
