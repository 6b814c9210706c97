/** The inputs of a run, as the user gave them. */
import type { JsonObject } from '../wire/json.ts';

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

export const paramsOf = ({ kind, name, arguments: args }: Operation): JsonObject =>
  kind === 'resource' ? { uri: name, ...args } : { name, arguments: args };

export const nameOf = ({ kind, name }: Operation) => `${kind} ${name}`;

/** The address of the server, or the command that starts it. */
export interface Address {
  /** A URL. `{port}` in it stands for the port of a started server. */
  readonly url?: string;
  /** A program and its arguments. With `{port}` among them it serves HTTP, without it stdio. */
  readonly command?: readonly string[] | undefined;
  /** The URL of a second instance, for a server that the checker does not start. */
  readonly also?: string | undefined;
  /** A shell command that restarts a server that the checker did not start. */
  readonly restart?: string | undefined;
  /** The new version: its URL, or a shell command that starts it, with `{port}` if it serves HTTP. */
  readonly next?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The headers of a second principal. */
  readonly otherHeaders?: Readonly<Record<string, string>> | undefined;
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

/** All inputs of a run. */
export interface Inputs {
  readonly address: Address;
  readonly operation: Operation;
  readonly otherArguments?: JsonObject;
  /** A second operation that asks. Checks send it the state of the first. */
  readonly otherOperation?: Operation;
  /** Content for each question, by its key; `*` stands for every other key. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly generateAnswers: boolean;
  readonly probe?: ProbeSpec;
  readonly ttlSeconds?: number | undefined;
  readonly oneTime: boolean;
  /** The effect needs consent: an effect without a question is a fail instead of advice. */
  readonly needsConsent: boolean;
  readonly allowEffects: boolean;
  readonly only?: readonly string[] | undefined;
  /** Run only the gravest checks that end within a minute. */
  readonly quick?: boolean | undefined;
  readonly seed: number;
  /** The limit for one answer. */
  readonly timeoutSeconds: number;
  /** The limit for the whole run. Default: 900, plus `ttlSeconds` if a check waits for it. */
  readonly mostSeconds?: number | undefined;
}

/** A mistake in the user's inputs. The program prints it, and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage_error';
}
