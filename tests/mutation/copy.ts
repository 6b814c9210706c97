/** A copy of the repository, in which mutants may be written without touching the files that somebody works on. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installFolder } from '../testkit/own-lockfile.ts';
import { projectFiles } from '../testkit/project-files.ts';

/** Copies the files under `root`, with the changes that are not committed, and installs them. Returns the folder. */
export function copyRepository(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-mutation-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  for (const file of projectFiles(root)) cpSync(join(root, file), join(folder, file));
  installFolder(pathToFileURL(`${folder}/`));
  return folder;
}
