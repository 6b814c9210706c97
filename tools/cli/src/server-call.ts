/** The command line of `pnpm demo --server`, which calls a tool of any server. */
import type { ClientKind, Endpoint } from '@mrtr/harness';
import { InvalidArgumentError, Option } from 'commander';
import { command, oneOf, parseArgs, UsageError } from './command-line.ts';
import type { Environment, Terminal } from './terminal.ts';

export interface ServerCall {
  /** The typed address or command. */
  readonly server: string;
  readonly endpoint: Endpoint;
  /** Undefined for a list of the tools. */
  readonly tool?: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly client: ClientKind;
  readonly answer: 'ask' | 'decline' | 'cancel';
  readonly format: 'drawing' | 'json' | 'mermaid';
}

export const isServerCall = (args: readonly string[]): boolean =>
  args.some((arg) => arg === '--server' || arg.startsWith('--server='));

export function serverCall(
  args: readonly string[],
  terminal: Pick<Terminal, 'env' | 'stdout'>,
): ServerCall | undefined {
  const line = command('demo', '--server <server> [options]', 'Calls a tool of any server.', terminal)
    .requiredOption('--server <server>', 'its address, or the command that starts it')
    .option('--tool <name>', 'its tool; without, the tools are listed')
    .option('--arguments <json>', "the tool's arguments", argumentsIn, {})
    .option('--header <line>', "for an address: 'Name: value'; may be given again", further)
    .addOption(oneOf('--client <kind>', 'who calls', ['modern', 'legacy', 'modern-only']))
    .addOption(oneOf('--answer <kind>', 'who answers', ['ask', 'decline', 'cancel']))
    .addOption(new Option('--json', 'print the transcript, and nothing else').conflicts('mermaid'))
    .option('--mermaid', 'print it as a Mermaid diagram, and nothing else');
  if (!parseArgs(line, args)) return undefined;
  const { header, json, mermaid, ...call } = line.opts();
  const endpoint = endpointOf(call.server, terminal.env, header);
  return { ...(call as ServerCall), endpoint, format: json ? 'json' : mermaid ? 'mermaid' : 'drawing' };
}

const further = (line: string, before: readonly string[] = []) => [...before, line];

function endpointOf(server: string, env: Environment, headers: readonly string[] = []): Endpoint {
  if (/^https?:/i.test(server)) {
    if (!URL.canParse(server)) throw new UsageError(`--server: '${server}' is no address.`);
    return { kind: 'http', url: new URL(server), headers: headersIn(headers) };
  }
  if (headers.length > 0)
    throw new UsageError('--header goes with an address: a command is called without HTTP.');
  // Split like a shell, so that a quoted path may have spaces.
  const words = [...server.matchAll(/(?:"[^"]*"|'[^']*'|\S)+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );
  const start = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [command, ...args] = start < 0 ? [] : words.slice(start);
  if (command === undefined) throw new UsageError('--server takes an address or a command.');
  const assigned = words.slice(0, start).map((word) => /^(\w+)=(.*)$/s.exec(word)?.slice(1) ?? []);
  const all = [...Object.entries(env), ...assigned].filter(([, value]) => value !== undefined);
  return { kind: 'stdio', command, args, env: Object.fromEntries(all) };
}

function headersIn(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Headers();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+):(.*)$/.exec(line) ?? [];
    try {
      headers.append(name, value);
    } catch {
      // Do not repeat the text: it may be a token.
      throw new UsageError("--header takes a line such as 'Authorization: Bearer TOKEN'.");
    }
  }
  return Object.fromEntries(headers);
}

function argumentsIn(json: string): Readonly<Record<string, unknown>> {
  const value = parse(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new InvalidArgumentError('It takes a JSON object, such as \'{"location":"Tokyo"}\'.');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
