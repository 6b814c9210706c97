/** The command line of `pnpm demo --server`: a tool of a server that is not ours. */
import type { ClientKind, Endpoint } from '@mrtr/harness';
import type { Command as Program } from 'commander';
import { exists, isGiven, UsageError } from './command-line.ts';

const ANSWERS = ['ask', 'decline', 'cancel'] as const;

export type ServerCall = ReturnType<typeof serverCall>;

export const SERVER_FLAGS = ['server', 'tool', 'arguments', 'client', 'answer', 'json', 'mermaid'] as const;

export function serverCall(line: Program) {
  const { server, tool, arguments: json, client, answer, json: asJson, mermaid } = line.opts();
  const [name] = line.args;
  if (name !== undefined) throw new UsageError(`Give a name or --server, not both; remove '${name}'.`);
  if (!isGiven(line, 'tool')) throw new UsageError('--server goes with --tool NAME.');
  return {
    /** The address or the command, as it was typed. */
    server: server as string,
    endpoint: endpointOf(server),
    tool: tool as string,
    arguments: argumentsIn(json),
    client: client as ClientKind,
    answer: isGiven(line, 'answer') ? answerIn(answer) : 'ask',
    format: formatOf(asJson, mermaid),
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

function answerIn(answer: string): (typeof ANSWERS)[number] {
  const known = ANSWERS.find((one) => one === answer);
  if (known === undefined) {
    throw new UsageError(`--answer cannot be '${answer}' with --server. ${exists('Values', ANSWERS)}`);
  }
  return known;
}

export const formatOf = (json: boolean, mermaid: boolean): 'drawing' | 'json' | 'mermaid' =>
  json ? 'json' : mermaid ? 'mermaid' : 'drawing';
