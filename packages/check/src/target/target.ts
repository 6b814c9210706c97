/** What is checked, as the user gave it. */
import type { JsonObject } from '../wire/json.ts';

/** The one operation that is called: a tool, a prompt or a resource. */
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

export const nameOf = ({ kind, name }: Operation): string => `${kind} ${name}`;

/** Where the server is, or how it is started. */
export interface Address {
  /** An address, in which `{port}` stands for the port that a started server was given. */
  readonly url?: string;
  /** A program and its arguments. With `{port}` among them it serves HTTP, without it stdio. */
  readonly command?: readonly string[] | undefined;
  /** A second instance, for a server that is not started here. */
  readonly also?: string | undefined;
  /** A shell command that restarts a server that is not started here. */
  readonly restart?: string | undefined;
  /** The new version: a shell command that starts it, with `{port}` where it serves HTTP, or its address. */
  readonly next?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The headers of a second principal. */
  readonly otherHeaders?: Readonly<Record<string, string>>;
}

/** Stands for the port of a started server, in its command and in its address. */
export const PORT = '{port}';

/** How a server is reached: one that is started without a port talks over stdio. */
export const transportOf = ({ command }: Pick<Address, 'command'>): 'http' | 'stdio' =>
  command === undefined || command.some((word) => word.includes(PORT)) ? 'http' : 'stdio';

/** How effects are read. */
export type ProbeSpec =
  | { readonly kind: 'operation'; readonly operation: Operation }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'cmd'; readonly command: string };

/** Everything that a run is told. */
export interface Inputs {
  readonly address: Address;
  readonly operation: Operation;
  readonly otherArguments?: JsonObject;
  /** A second operation that asks, to present foreign state to. */
  readonly otherOperation?: Operation;
  /** Content for each question, by its key; `*` stands for every other key. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly generateAnswers: boolean;
  readonly probe?: ProbeSpec;
  readonly ttlSeconds?: number | undefined;
  readonly oneTime: boolean;
  /** The effect needs a yes: an effect that nobody was asked for is a fail, and no advice. */
  readonly needsConsent: boolean;
  readonly allowEffects: boolean;
  readonly only?: readonly string[] | undefined;
  /** The checks that end within a minute. */
  readonly quick?: boolean | undefined;
  readonly seed: number;
  /** For one answer. */
  readonly timeoutSeconds: number;
  /** For the whole run. Default: 900, and `ttlSeconds` where it is waited for. */
  readonly mostSeconds?: number | undefined;
}

/** A mistake in what the user gave: the program says it, and ends with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
