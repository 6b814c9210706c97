/** The records of a call, as sealed JSON: its beginning, the answers, the ends of turns, and the values of steps. */
import { hash, randomBytes } from 'node:crypto';
import type { InputRequests, InputResponses, ServerContext } from '@modelcontextprotocol/server';
import { ProtocolError } from '@modelcontextprotocol/server';
import { CannotAsk, ElicitationDeclined, type InputKind } from '@mrtr/core';
import { canonicalJson } from '@mrtr/core/kit';
import { derivePseudonym, type KeyRing, keyRing, openAtRest, sealAtRest } from '@mrtr/core/seal';
import { type Call, type RoundLimits, withoutStamps } from '@mrtr/core/shape';
import { ContinuationLost, type LinearContext } from '@mrtr/shapes/linear';
import { callerOf, type LinearRound } from '@mrtr/shapes/linear-store';

/** The beginning of a call. A handler that is run again has to see the same. */
export interface CallHeader
  extends Pick<Call, 'method' | 'target' | 'pseudonym'>,
    Omit<RoundLimits, 'round' | 'timesAsked'> {
  readonly input: unknown;
  /** Whether the input is the text of a resource's URI. */
  readonly isUri: boolean;
  readonly caller?: LinearContext['caller'];
  /** The salt of {@link saltedHash}. */
  readonly salt: string;
}

/** The header of a new call. */
export function headerOf({ call, input, ctx }: LinearRound): CallHeader {
  const { method, target, pseudonym, askable, maxRounds, maxQuestions, maxStateBytes, version } = call;
  const limits = { maxRounds, maxQuestions, maxStateBytes, version };
  const [caller, salt] = [callerRecord(ctx), randomBytes(16).toString('base64url')];
  return { ...limits, method, target, pseudonym, askable, input, isUri: input instanceof URL, caller, salt };
}

/** The message of a client in a later round. Without `responses`, it ends the call. */
export interface Message {
  readonly responses?: InputResponses | Readonly<Record<string, unknown>> | undefined;
  readonly askable: readonly InputKind[];
  readonly caller?: LinearContext['caller'];
  /** The answered questions, as key and digest. A handler that is run again must ask the same. */
  readonly asked?: readonly (readonly [key: string, digest: string])[] | undefined;
  /** The caller's pseudonym, under the key that seals now. */
  readonly pseudonym?: string | undefined;
  /** The instance that waits for the next turn. */
  readonly from: string;
}

/**
 * How a turn of a call ended. `lost`: why the call cannot be resumed. `overLimit`: why its questions may not go out, and
 * `effects`: what had run.
 */
export type TurnRecord = (
  | {
      readonly kind: 'asked';
      readonly requests: InputRequests;
      readonly overLimit?: string;
      readonly effects?: readonly string[];
    }
  | { readonly kind: 'returned'; readonly value?: unknown }
  | { readonly kind: 'threw'; readonly error: ErrorRecord }
  | { readonly kind: 'lost'; readonly why: string }
) & {
  /** The digest of the answers that led to it, if any; see {@link hashAnswers}. */
  readonly answers?: string | undefined;
  /**
   * The caller's pseudonym from the latest answer, made with a key as new as that answer's token. The key of the call's
   * first round may be removed while the call waits.
   */
  readonly pseudonym?: string | undefined;
};

/** The result of a step. */
export type StepRecord = { readonly value?: unknown } | { readonly error: ErrorRecord };

/** An error, in the form that travels from one instance to another. */
export interface ErrorRecord {
  /** The class, if the error is one of those that end a call in a special way. */
  readonly kind?: keyof typeof KINDS | undefined;
  readonly name?: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A salted digest of `text` for this call, which shows a reader of the database nothing of it. */
export const saltedHash = (text: string, { salt }: CallHeader): string =>
  hash('sha256', `${salt} ${text}`, 'base64url');

/** A digest of the method and the tool's name: an operator can look for a tool, and a reader of the database learns none. */
export const targetDigest = ({ method, target }: CallHeader, ring: KeyRing): string =>
  derivePseudonym(`${method} ${target}`, ring[0]);

/** A digest of answers: equal for equal answers. */
export const hashAnswers = (responses: Message['responses'], head: CallHeader): string =>
  saltedHash(canonicalJson(withoutStamps(responses ?? {})), head);

/** A stored record does not open here. */
export class Unopened extends Error {
  constructor(what: string, call: string) {
    super(
      `The ${what} of call ${call} does not open: it was changed, or sealed with a key that is not among the policy’s ` +
        '`keys`. Give all instances the same keys.',
    );
  }
}

/**
 * Seals and opens the records of one call, under the call's own key. A record opens only for its call and as the kind
 * that it was sealed as. The call keeps its key, sealed with the policy's key, and seals it again with every turn. So
 * the policy's keys can be replaced while calls wait.
 */
export class CallKey {
  readonly call: string;
  readonly #secret: string;
  readonly #ring: KeyRing;

  private constructor(call: string, secret: string) {
    this.call = call;
    this.#secret = secret;
    this.#ring = keyRing([secret]);
  }

  /** The key of a new call. */
  static make(call: string): CallKey {
    return new CallKey(call, randomBytes(32).toString('base64url'));
  }

  /** @throws Unopened when no key of the key ring opens `key`. */
  static of(call: string, key: Uint8Array, ring: KeyRing): CallKey {
    const secret = openAtRest(key, `${call} key`, ring);
    if (secret === undefined) throw new Unopened('key', call);
    return new CallKey(call, secret);
  }

  /** The call's key, sealed with the first key of the key ring. */
  key(ring: KeyRing): Buffer {
    return sealAtRest(this.#secret, `${this.call} key`, ring);
  }

  seal(record: unknown, what: string): Buffer {
    return sealAtRest(JSON.stringify(record), `${this.call} ${what}`, this.#ring);
  }

  /** @throws Unopened when it was not sealed as this kind, for this call. */
  open<T>(sealed: Uint8Array, what: string): T {
    const text = openAtRest(sealed, `${this.call} ${what}`, this.#ring);
    if (text === undefined) throw new Unopened(what, this.call);
    return JSON.parse(text) as T;
  }
}

const KINDS = { ElicitationDeclined, ContinuationLost, CannotAsk, ProtocolError } as const;

/** The record of a thrown value, also of a value that throws when it is read. */
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
 * The error from its record. An error that ends a call in a special way keeps its class; any other becomes an `Error`
 * with the same name, message and properties. The process that recorded it uses this form too, so that a handler that
 * is run again sees the error that it saw first.
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

/** The caller of a request, in the form that travels from one instance to another. */
export function callerRecord(ctx: ServerContext): LinearContext['caller'] {
  const caller = callerOf(ctx);
  return caller?.extra ? { ...caller, extra: jsonOf(caller.extra) } : caller;
}

/** The own properties of `given` that are JSON. */
function jsonOf(given: object): Record<string, unknown> {
  const json = Object.entries(given).flatMap(([key, value]) => {
    try {
      const text = JSON.stringify(value);
      return text === undefined ? [] : [[key, JSON.parse(text) as unknown]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(json);
}

/** The latest turn that has ended. */
export const latestIn = (
  { turn, body }: { readonly turn: number; readonly body: Buffer | null },
  callKey: CallKey,
): TurnRecord | undefined => (body ? callKey.open<TurnRecord>(body, `turn ${turn}`) : undefined);
