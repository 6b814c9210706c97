/** What is kept of a call, as sealed JSON: how it began, what came in, what went out, and what its steps gave. */
import { hash, randomBytes } from 'node:crypto';
import { ProtocolError } from '@modelcontextprotocol/server';
import {
  CannotAsk,
  ContinuationLost,
  ElicitationDeclined,
  type InputKind,
  type InputRequests,
  type InputResponses,
} from '@mrtr/core';
import { keyRing, openAtRest, type SealingKey, sealAtRest } from '@mrtr/core/seal';
import { canonicalJson } from '@mrtr/core/shape';

/** What a call began with. A handler that is started again has to see the same. */
export interface Head {
  readonly method: string;
  readonly target: string;
  readonly input: unknown;
  /** Whether that is the text of a resource's URI. */
  readonly isUri: boolean;
  /** A keyed digest of the caller's identity, as the handler sees it. Only this caller may answer; see {@link TurnRecord}. */
  readonly principal: string | undefined;
  readonly askable: readonly InputKind[];
  readonly maxRounds: number;
  readonly maxQuestions: number;
  readonly maxStateBytes: number;
  /** The version that its state is sealed with. */
  readonly version: string | undefined;
  /** What {@link unread} is made with. */
  readonly salt: string;
}

/** What a client sent in a later round; without `responses`, the call is to end. */
export interface Message {
  readonly responses?: InputResponses | Readonly<Record<string, unknown>> | undefined;
  readonly askable: readonly InputKind[];
  /** The questions that are answered, as key and digest. A handler that is run again must ask the same. */
  readonly asked?: readonly (readonly [key: string, digest: string])[] | undefined;
  /** The caller's digest, under the key that seals now. */
  readonly principal?: string | undefined;
  /** The instance that waits for what comes of it. */
  readonly from: string;
}

/** How a turn of a call ended. `lost`: it cannot go on, and why. `overdrawn`: why nobody may answer. */
export type TurnRecord = (
  | { readonly kind: 'asked'; readonly requests: InputRequests; readonly overdrawn?: string }
  | { readonly kind: 'returned'; readonly value?: unknown }
  | { readonly kind: 'threw'; readonly error: ErrorRecord }
  | { readonly kind: 'lost'; readonly why: string }
) & {
  /** The answers that it came of, where it came of any; see {@link unreadAnswers}. */
  readonly answers?: string | undefined;
  /**
   * The caller's digest as the latest answer brought it, and so under a key that is as new as its token: the one that the
   * call began under may be removed while it waits.
   */
  readonly principal?: string | undefined;
};

/** What a step gave. */
export type StepRecord = { readonly value?: unknown } | { readonly error: ErrorRecord };

/** An error, as it crosses from one instance to another. */
export interface ErrorRecord {
  /** What it is, where it is one of those that end a call in a way of their own. */
  readonly kind?: keyof typeof KINDS | undefined;
  readonly name?: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A name for `text`, for this call, that does not tell it to whoever reads the database. */
export const unread = (text: string, { salt }: Head): string =>
  hash('sha256', `${salt} ${text}`, 'base64url');

/** The same for answers that say the same. */
export const unreadAnswers = (responses: Message['responses'], head: Head): string =>
  unread(canonicalJson(responses ?? {}), head);

/** What is stored does not open here. */
export class Unopened extends Error {
  constructor(what: string, call: string) {
    super(
      `The ${what} of call ${call} does not open: it was changed, or sealed with a key that is not among the policy’s ` +
        '`keys`. Give all instances the same keys.',
    );
  }
}

/**
 * Seals and opens the records of one call, under a key of its own: each opens only as what it was sealed as, and for its
 * call. That key is kept with the call, sealed with the policy's, and anew with every turn: so the policy's keys can be
 * replaced while calls wait.
 */
export class Vault {
  readonly call: string;
  readonly #secret: string;
  readonly #ring: Ring;

  private constructor(call: string, secret: string) {
    this.call = call;
    this.#secret = secret;
    this.#ring = keyRing([secret]);
  }

  /** That of a new call. */
  static make(call: string): Vault {
    return new Vault(call, randomBytes(32).toString('base64url'));
  }

  /** @throws Unopened when no key of the ring opens `key`. */
  static of(call: string, key: Uint8Array, ring: Ring): Vault {
    const secret = openAtRest(key, `${call} key`, ring);
    if (secret === undefined) throw new Unopened('key', call);
    return new Vault(call, secret);
  }

  /** Its key, sealed with the first one of the ring. */
  key(ring: Ring): Buffer {
    return sealAtRest(this.#secret, `${this.call} key`, ring);
  }

  seal(record: unknown, what: string): Buffer {
    return sealAtRest(JSON.stringify(record), `${this.call} ${what}`, this.#ring);
  }

  /** @throws Unopened when it was not sealed as this, for this call. */
  open<T>(sealed: Uint8Array, what: string): T {
    const text = openAtRest(sealed, `${this.call} ${what}`, this.#ring);
    if (text === undefined) throw new Unopened(what, this.call);
    return JSON.parse(text) as T;
  }
}

type Ring = readonly SealingKey[];

const KINDS = { ElicitationDeclined, ContinuationLost, CannotAsk, ProtocolError } as const;

/** What there is to keep of a thrown value, whatever that does when it is looked at. */
export function errorRecord(thrown: unknown): ErrorRecord {
  try {
    if (!(thrown instanceof Error)) return { message: String(thrown), properties: {} };
    const [kind] = Object.entries(KINDS).find(([, type]) => thrown instanceof type) ?? [];
    const { name, message, stack } = thrown;
    return {
      kind: kind as ErrorRecord['kind'],
      name: String(name),
      message: String(message),
      stack: stack === undefined ? undefined : String(stack),
      properties: jsonOf(thrown),
    };
  } catch {
    return { message: 'What was thrown cannot be looked at.', properties: {} };
  }
}

/**
 * The error again. Those that end a call in a way of their own are what they were; any other is an `Error` of the same
 * name, message and properties. It is so in the process that recorded it, too: a handler must not see, when it is run
 * again, another error than it saw first.
 */
export function revivedError(record: ErrorRecord): Error {
  const error = rebuilt(record);
  const define = (name: string, value: unknown) =>
    Object.defineProperty(error, name, { value, configurable: true, writable: true });
  if (record.name !== undefined && record.name !== error.name) define('name', record.name);
  if (record.stack !== undefined) define('stack', record.stack);
  return error;
}

function rebuilt({ kind, message, properties }: ErrorRecord): Error {
  if (kind === 'ElicitationDeclined') {
    const { kind: how, key } = properties;
    const question = typeof key === 'string' ? key : undefined;
    return new ElicitationDeclined(how === 'cancelled' ? 'cancelled' : 'declined', question);
  }
  if (kind === 'ContinuationLost') return new ContinuationLost(message);
  if (kind === 'CannotAsk') return new CannotAsk(message);
  if (kind === 'ProtocolError') return new ProtocolError(Number(properties.code), message, properties.data);
  return Object.assign(new Error(message), properties);
}

/** Those of its own properties that are JSON. */
function jsonOf(error: Error): Record<string, unknown> {
  const json = Object.keys(error).flatMap((key) => {
    try {
      const text = JSON.stringify(error[key as keyof Error]);
      return text === undefined ? [] : [[key, JSON.parse(text) as unknown]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(json);
}
