/** A copy of the repository, in which mutants may be written without touching the files that somebody works on. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installFolder } from '../testkit/own-lockfile.ts';

/** A copy that is installed. */
export interface Copy {
  /** Its folder. */
  readonly folder: string;
  remove(): void;
}

/**
 * Copies every file under `root` that git does not ignore, with the changes that are not committed, and installs it.
 *
 * @throws Error when something could not be fetched.
 */
export function copyRepository(root: string): Copy {
  const listing = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listing, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }).split('\0');
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-mutation-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // Also when the run is interrupted.
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  for (const file of files) {
    // Git lists a file that was deleted and not committed.
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(folder, file));
  }
  installFolder(pathToFileURL(`${folder}/`));
  return { folder, remove };
}
