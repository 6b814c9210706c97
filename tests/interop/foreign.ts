/** The folder of foreign packages: installing it, its files, and the Node that runs them. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { installWithNode, nodeFor } from '../testkit/own-lockfile.ts';

/** The Node version that mcporter needs; the other packages need 20 or 22. */
const NEEDED = 24;
const FOLDER = new URL('foreign/', import.meta.url);

export const foreignPath = (path: string): string => fileURLToPath(new URL(path, FOLDER));

/** The Node that runs foreign packages. */
export const FOREIGN_NODE = nodeFor(FOLDER, NEEDED);

export const installForeign = (): void => installWithNode(FOLDER, NEEDED);

export async function versionOf(name: string): Promise<string> {
  const manifest = await readFile(foreignPath(`node_modules/${name}/package.json`), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** An environment for foreign programs, with their own home and without telemetry. */
export const quietEnvironment = (home: string): Record<string, string> => ({
  HOME: home,
  DO_NOT_TRACK: '1',
  MCP_USE_ANONYMIZED_TELEMETRY: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
});
