/** The command line of `pnpm demo --server`: a tool of a server that is not ours. */
import type { ClientKind, Endpoint } from '@mrtr/harness';
import type { Command as Program } from 'commander';
import { exists, isGiven, UsageError } from './command-line.ts';

const ANSWERS = ['ask', 'decline', 'cancel'] as const;

export interface ServerCall {
  /** The address or the command, as it was typed. */
  readonly server: string;
  readonly endpoint: Endpoint;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly client: ClientKind;
  readonly answer: (typeof ANSWERS)[number];
  readonly format: 'drawing' | 'json' | 'mermaid';
}

export const SERVER_FLAGS = ['server', 'tool', 'arguments', 'client', 'answer', 'json', 'mermaid'] as const;

export function serverCall(line: Program): ServerCall {
  const { server, tool, arguments: json, client, answer, json: asJson, mermaid } = line.opts();
  const [name] = line.args;
  if (name !== undefined) throw new UsageError(`Give a name or --server, not both; remove '${name}'.`);
  if (!isGiven(line, 'tool')) throw new UsageError('--server goes with --tool NAME.');
  return {
    server,
    endpoint: endpointOf(server),
    tool,
    arguments: argumentsIn(json),
    client,
    answer: isGiven(line, 'answer') ? answerIn(answer) : 'ask',
    format: asJson ? 'json' : mermaid ? 'mermaid' : 'drawing',
  };
}

function endpointOf(server: string): Endpoint {
  if (/^https?:/i.test(server)) {
    if (!URL.canParse(server)) throw new UsageError(`--server: '${server}' is no address.`);
    return { kind: 'http', url: new URL(server) };
  }
  // As a shell would split it, so that a path may have spaces.
  const words = [...server.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...word]) => word.join(''));
  const [command, ...args] = words;
  if (command === undefined) throw new UsageError('--server takes an address or a command.');
  return { kind: 'stdio', command, args };
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

function answerIn(answer: string): ServerCall['answer'] {
  const known = ANSWERS.find((one) => one === answer);
  if (known === undefined) {
    throw new UsageError(`--answer cannot be '${answer}' with --server. ${exists('Values', ANSWERS)}`);
  }
  return known;
}
