/** The command line of `pnpm demo --server`: a tool of a server that is not ours. */
import type { ClientKind, Endpoint } from '@mrtr/harness';
import type { Command as Program } from 'commander';
import { exists, isGiven, UsageError } from './command-line.ts';
import type { Environment } from './terminal.ts';

const ANSWERS = ['ask', 'decline', 'cancel'] as const;

export type ServerCall = ReturnType<typeof serverCall>;

export const SERVER_FLAGS = [
  'server',
  'tool',
  'arguments',
  'header',
  'client',
  'answer',
  'json',
  'mermaid',
] as const;

export function serverCall(line: Program, env: Environment) {
  const { server, tool, arguments: json, header, client, answer, json: asJson, mermaid } = line.opts();
  const [name] = line.args;
  if (name !== undefined) throw new UsageError(`Give a name or --server, not both; remove '${name}'.`);
  return {
    /** The address or the command, as it was typed. */
    server: server as string,
    endpoint: endpointOf(server, env, header),
    /** Undefined for a list of the tools. */
    tool: isGiven(line, 'tool') ? (tool as string) : undefined,
    arguments: argumentsIn(json),
    client: client as ClientKind,
    answer: isGiven(line, 'answer') ? answerIn(answer) : 'ask',
    format: formatOf(asJson, mermaid),
  };
}

function endpointOf(server: string, env: Environment, headers?: readonly string[]): Endpoint {
  if (/^https?:/i.test(server)) {
    if (!URL.canParse(server)) throw new UsageError(`--server: '${server}' is no address.`);
    return { kind: 'http', url: new URL(server), headers: headers && headersIn(headers) };
  }
  if (headers) throw new UsageError('--header goes with an address: a command is called without HTTP.');
  // As a shell would split it, so that a path may have spaces.
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

function argumentsIn(json = '{}'): Readonly<Record<string, unknown>> {
  const value = parse(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new UsageError('--arguments takes a JSON object, such as \'{"location":"Tokyo"}\'.');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function answerIn(answer: string): (typeof ANSWERS)[number] {
  const known = ANSWERS.find((one) => one === answer);
  if (known === undefined) {
    throw new UsageError(`--answer cannot be '${answer}' with --server. ${exists('Values', ANSWERS)}`);
  }
  return known;
}

export const formatOf = (json: boolean, mermaid: boolean): 'drawing' | 'json' | 'mermaid' =>
  json ? 'json' : mermaid ? 'mermaid' : 'drawing';
