/** The foreign servers that our clients are tried against. */
import { scriptedUser } from '@mrtr/harness';
import { FOREIGN_NODE, foreignPath } from './foreign.ts';
import type { Asking } from './our-client.ts';
import { listening, type Target, type Transport } from './target.ts';

export interface ForeignServer {
  readonly name: string;
  readonly package: string;
  readonly transport: Transport;
  readonly file: string;
  readonly args?: readonly string[];
  readonly asking: () => Asking;
}

const weather = (): Asking => ({
  tool: 'get_weather',
  arguments: { location: 'Tokyo' },
  user: scriptedUser({ units: ['imperial'] }),
  answer: '72°F',
});

const accepting = (tool: string, content: Record<string, string>, answer: string) => (): Asking => ({
  tool,
  arguments: {},
  user: () => ({ action: 'accept', content }),
  answer,
});

const EVERYTHING = {
  name: 'server-everything',
  package: '@modelcontextprotocol/server-everything',
  file: 'node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  asking: accepting('trigger-elicitation-request', { name: 'Ada' }, 'Name: Ada'),
};
const FASTMCP = { name: 'fastmcp', package: 'fastmcp', file: 'servers/fastmcp.mjs', asking: weather };
const MASTRA = { name: 'Mastra', package: '@mastra/mcp', file: 'servers/mastra.mjs', asking: weather };

export const SERVERS: readonly ForeignServer[] = [
  { ...EVERYTHING, transport: 'stdio', args: ['stdio'] },
  { ...EVERYTHING, transport: 'HTTP', args: ['streamableHttp'] },
  { ...FASTMCP, transport: 'stdio' },
  { ...FASTMCP, transport: 'HTTP' },
  { ...MASTRA, transport: 'stdio' },
  { ...MASTRA, transport: 'HTTP' },
  {
    name: "SDK v1's `elicitationFormExample`",
    package: 'sdk-1.32',
    file: 'node_modules/sdk-1.32/dist/esm/examples/server/elicitationFormExample.js',
    transport: 'HTTP',
    asking: accepting(
      'register_user',
      { username: 'ada', email: 'ada@example.com', password: 'correct horse' },
      'Username: ada',
    ),
  },
];

export const UNTRIED_SERVERS: readonly (readonly [name: string, why: string])[] = [
  [
    "SDK v2's examples",
    "not in this run: they are not on npm. By hand on 2026-11-22, `examples/mrtr` at commit 3924de9, over stdio with `pnpm demo --server`: a client of either era is asked for a yes and then to open the page, and gets 'deployed to staging'",
  ],
];

/** Runs one: at once where it listens, else when the client starts it. */
export async function runServer(
  { file, args = [], transport }: ForeignServer,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly target: Target; close(): Promise<void> }> {
  const program = { command: FOREIGN_NODE, args: [foreignPath(file), ...args], env };
  if (transport === 'stdio') return { target: program, close: async () => {} };
  return listening((port) => ({ ...program, env: { ...env, PORT: String(port) } }));
}
