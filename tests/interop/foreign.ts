/** The folder of foreign packages: where they are, and the Node that runs them. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { nodeFor, type Outside } from '../testkit/outside-install.ts';

/** Installed when `pnpm interop` first needs it. mcporter is what needs Node 24. */
export const FOREIGN: Outside = {
  folder: new URL('foreign/', import.meta.url),
  needs: 24,
  what: 'foreign clients',
  command: 'pnpm interop',
};

const { versions, platform, arch, execPath } = process;

/** The Node that runs them. */
export const foreignNode = (): string =>
  nodeFor(FOREIGN, { version: versions.node, platform, arch, execPath });

/** The path of a file in that folder. */
export const foreignPath = (path: string): string => fileURLToPath(new URL(path, FOREIGN.folder));

/** The version that is installed of a package. */
export async function versionOf(name: string): Promise<string> {
  const manifest = await readFile(foreignPath(`node_modules/${name}/package.json`), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
