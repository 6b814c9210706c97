/** The inputs of a run, as the user gave them. */
import type { JsonObject, Texts } from '../wire/json.ts';

/** The operation under check: a tool, a prompt or a resource. */
export interface Operation {
  readonly kind: 'tool' | 'prompt' | 'resource';
  /** The name, or a resource's URI. */
  readonly name: string;
  readonly arguments: JsonObject;
}

export const METHOD = {
  tool: 'tools/call',
  prompt: 'prompts/get',
  resource: 'resources/read',
} as const satisfies Record<Operation['kind'], string>;

export const paramsOf = ({ kind, name, arguments: args }: Operation) =>
  kind === 'resource' ? { uri: name, ...args } : { name, arguments: args };

export const nameOf = ({ kind, name }: Operation) => `${kind} ${name}`;

/** The address of the server, or the command that starts it. */
export interface Address {
  /** A URL. `{port}` in it stands for the port of a started server. */
  readonly url?: string | undefined;
  /** A program and its arguments. With `{port}` among them it serves HTTP, without it stdio. */
  readonly command?: readonly string[] | undefined;
  /** The URL of a second instance, for a server that the checker does not start. */
  readonly also?: string | undefined;
  /** A shell command that restarts a server that the checker did not start. */
  readonly restart?: string | undefined;
  /** The new version: its URL, or a shell command that starts it, with `{port}` if it serves HTTP. */
  readonly next?: string | undefined;
  readonly headers?: Texts | undefined;
  /** The headers of a second principal. */
  readonly otherHeaders?: Texts | undefined;
}

/** `nobody`: the first principal without the headers that make one. */
export type Principal = 'own' | 'other' | 'nobody';

/** The headers of a principal. Those that only the first principal's list has, such as a version, come with every request. */
export function headersOf({ headers, otherHeaders = {} }: Address, principal: Principal) {
  if (principal === 'other') return { ...headers, ...otherHeaders };
  const kept = Object.entries(headers ?? {}).filter(
    ([name]) => principal === 'own' || !(name in otherHeaders),
  );
  return Object.fromEntries(kept);
}

/** The placeholder for the port of a started server, in its command and its URL. */
export const PORT = '{port}';

/** The transport of a server: stdio if its command has no `{port}`. */
export const transportOf = ({ command }: Pick<Address, 'command'>) =>
  command === undefined || command.some((word) => word.includes(PORT)) ? 'http' : 'stdio';

/** The source of the readings that show effects. */
export type ProbeSpec =
  | { readonly kind: 'operation'; readonly operation: Operation }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'cmd'; readonly command: string };

/** The inputs of a run. Only the address and the operation are required. */
export interface Inputs {
  readonly address: Address;
  readonly operation: Operation;
  /** A second valid set of arguments. Default: made from the input schema. */
  readonly otherArguments?: JsonObject | undefined;
  /** A second operation that asks. Checks send it the state of the first. */
  readonly otherOperation?: Operation | undefined;
  /** Content for each question, by its key; `*` stands for every other key. */
  readonly answers?: JsonObject;
  readonly generateAnswers?: boolean;
  readonly probe?: ProbeSpec | undefined;
  /** The argument that is new in each call, or a list of values for each such argument. For effects that happen once. */
  readonly vary?: string | JsonObject | undefined;
  readonly ttlSeconds?: number | undefined;
  readonly oneTime?: boolean;
  /** The effect needs consent: an effect without a question is a fail instead of advice. */
  readonly needsConsent?: boolean;
  readonly allowEffects?: boolean;
  /** Ids of checks, or their beginnings, as `state`. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Run only the gravest checks that end within a minute. */
  readonly quick?: boolean | undefined;
  /** The seed of generated values. Default: 1. */
  readonly seed?: number;
  /** The limit for one answer. Default: 30. */
  readonly timeoutSeconds?: number;
  /** The limit for the whole run. Default: 900, plus `ttlSeconds` if a check waits for it. */
  readonly mostSeconds?: number | undefined;
}

/** The default inputs. */
export const DEFAULTS = {
  answers: {},
  generateAnswers: false,
  oneTime: false,
  needsConsent: false,
  allowEffects: false,
  seed: 1,
  timeoutSeconds: 30,
} as const satisfies Partial<Inputs>;

/** The inputs of a run, with their defaults. */
export type CompleteInputs = Inputs & Required<Pick<Inputs, keyof typeof DEFAULTS>>;

/** A mistake in the user's inputs. The program prints it, and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage_error';
}

/** The address of the new version. A shell runs its command, which may change the folder. @throws UsageError if its transport differs */
export function nextOf(address: Address) {
  const { next, command, url, headers, otherHeaders } = address;
  if (next === undefined) return undefined;
  const principals = { headers, otherHeaders };
  const elsewhere = isAddress(next);
  if (elsewhere && !URL.canParse(next)) throw new UsageError(`--next is not an address: '${next}'.`);
  const overHttp = elsewhere || next.includes(PORT);
  if (overHttp !== (transportOf(address) === 'http')) throw new UsageError(mismatch(address));
  if (elsewhere) return { ...principals, url: next };
  // The path is the same as that of the old version.
  const path = command !== undefined && url !== undefined ? { url } : {};
  return { ...principals, ...path, command: inShell(next) };
}

const isAddress = (next: string) => /^https?:/i.test(next);

/** Whether the checker starts a server. Such a server is gone when somebody reads the report. */
export const isStarted = ({ command, next }: Address) =>
  command !== undefined || (next !== undefined && !isAddress(next));

const inShell = (command: string) =>
  process.platform === 'win32'
    ? [process.env.ComSpec ?? 'cmd.exe', '/d', '/s', '/c', command]
    : ['/bin/sh', '-c', command];

function mismatch(address: Address) {
  if (transportOf(address) === 'stdio')
    return (
      'The command of the server has no {port}, so it is reached over stdio, and --next over HTTP. Write {port} in ' +
      'both commands, or in neither.'
    );
  const otherwise = address.command === undefined ? ', or give the address at which it listens' : '';
  return (
    'The server is reached over HTTP, and --next has no {port}. Write {port} where the command of the new version ' +
    `takes its port${otherwise}: --next 'node server.mjs --port {port}'.`
  );
}
