/** Proxies between one of our clients and an option. */
import { FOREIGN_NODE, foreignPath } from './foreign.ts';
import { listening, type Target, type Transport } from './target.ts';

/** A proxy, in one direction and with one set of options. */
export interface ForeignProxy {
  readonly name: string;
  readonly package: string;
  /** Its program, in its package. */
  readonly file: string;
  /** The transports between the client and the proxy, and between the proxy and the option. */
  readonly client: Transport;
  readonly server: Transport;
  /** Its command line, for the option's target and the port to listen on. */
  args(server: Target, port: number): readonly string[];
}

const url = (server: Target) => ('url' in server ? server.url : '');
const words = (server: Target) => ('url' in server ? [] : [server.command, ...server.args]);
const shellLine = (server: Target) =>
  words(server)
    .map((word) => JSON.stringify(word))
    .join(' ');

const SUPERGATEWAY = { package: 'supergateway', file: 'dist/index.js' };
const REMOTE = { package: 'mcp-remote', file: 'dist/proxy.js' };
const toStdio = { client: 'stdio', server: 'HTTP' } as const;
const toHttp = { client: 'HTTP', server: 'stdio' } as const;

export const PROXIES: readonly ForeignProxy[] = [
  { name: '`mcp-remote`', ...REMOTE, ...toStdio, args: (server) => [url(server)] },
  {
    name: '`mcp-remote --protocol auto`',
    ...REMOTE,
    ...toStdio,
    args: (server) => [url(server), '--protocol', 'auto'],
  },
  {
    name: '`mcp-proxy`',
    package: 'mcp-proxy',
    file: 'dist/bin/mcp-proxy.mjs',
    ...toHttp,
    args: (server, port) => ['--host', '127.0.0.1', '--port', String(port), '--', ...words(server)],
  },
  {
    name: '`supergateway --streamableHttp`',
    ...SUPERGATEWAY,
    ...toStdio,
    args: (server) => ['--streamableHttp', url(server), '--logLevel', 'none'],
  },
  ...['', ' --stateful'].map((flag) => ({
    name: `\`supergateway --stdio${flag}\``,
    ...SUPERGATEWAY,
    ...toHttp,
    args: (server: Target, port: number) => [
      ...['--stdio', shellLine(server), '--outputTransport', 'streamableHttp', '--port', String(port)],
      ...flag.split(' ').filter(Boolean),
    ],
  })),
];

/** Runs a proxy in front of `server`: now if it listens, otherwise when the client starts it. */
export async function withProxy(
  proxy: ForeignProxy,
  server: Target,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly target: Target; close(): Promise<void> }> {
  const program = (port: number) => ({
    command: FOREIGN_NODE,
    args: [foreignPath(`node_modules/${proxy.package}/${proxy.file}`), ...proxy.args(server, port)],
    env,
  });
  return proxy.client === 'HTTP' ? listening(program) : { target: program(0), close: async () => {} };
}
