/** The records of a call, as sealed JSON: its beginning, the answers, the ends of turns, and the values of steps. */
import { hash, randomBytes } from 'node:crypto';
import type { InputRequests, InputResponses, ServerContext } from '@modelcontextprotocol/server';
import { ProtocolError } from '@modelcontextprotocol/server';
import { CannotAsk, ElicitationDeclined, type InputKind } from '@mrtr/core';
import { canonicalJson } from '@mrtr/core/internal';
import { derivePseudonym, type KeyRing, keyRing, openAtRest, sealAtRest } from '@mrtr/core/seal';
import { type Call, withoutStamps } from '@mrtr/core/shape';
import { callerOf } from '@mrtr/shapes/internal';
import { ContinuationLost, type LinearContext, type LinearRound, type RoundEnd } from '@mrtr/shapes/linear';

/** The beginning of a call. A second run of the handler must see the same. */
export interface CallHeader extends Pick<Call, 'method' | 'target' | 'pseudonym' | 'askable' | 'version'> {
  readonly maxRounds: number;
  readonly maxQuestions: number;
  readonly maxStateBytes: number;
  readonly input: unknown;
  /** Whether the input is a resource's URI, as text. */
  readonly isUri: boolean;
  readonly caller?: LinearContext['caller'];
  /** The salt of {@link saltedHash}. */
  readonly salt: string;
}

/** The header of a new call. */
export function headerOf({ call, input, ctx }: LinearRound): CallHeader {
  const { method, target, pseudonym, askable, version, limits } = call;
  return {
    maxRounds: limits.rounds,
    maxQuestions: limits.questions,
    maxStateBytes: limits.stateBytes,
    version,
    method,
    target,
    pseudonym,
    askable,
    input,
    isUri: input instanceof URL,
    caller: callerRecord(ctx),
    salt: randomBytes(16).toString('base64url'),
  };
}

/** A client's message in a later round. Without `responses`, it ends the call. */
export interface RoundMessage {
  readonly responses?: InputResponses | Readonly<Record<string, unknown>> | undefined;
  readonly askable: readonly InputKind[];
  readonly caller?: LinearContext['caller'];
  /** The key and digest of each answered question. A second run of the handler must ask the same. */
  readonly asked?: readonly (readonly [key: string, digest: string])[] | undefined;
  /** The caller's pseudonym under the current sealing key. */
  readonly pseudonym?: string | undefined;
  /** The instance that waits for the next turn. */
  readonly from: string;
}

/**
 * The end of a turn. `why`: the reason why the call cannot be resumed. `overLimit`: the reason why its questions are not
 * sent. `effects`: the effects that ran before them.
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
  /** The digest of the answers that started the turn, if any; see {@link hashAnswers}. */
  readonly answers?: string | undefined;
  /** The answers that started the turn and did not fit. */
  readonly unfit?: RoundEnd['unfit'];
  /**
   * The caller's pseudonym from the latest answer. It replaces the first round's, whose key the operator may remove while
   * the call waits.
   */
  readonly pseudonym?: string | undefined;
};

/** The result of a step. */
export type StepResult = { readonly value?: unknown } | { readonly error: ErrorRecord };

/** The JSON form of an error. */
export interface ErrorRecord {
  /** The class, if it is one that ends a call in a special way. */
  readonly kind?: keyof typeof KINDS | undefined;
  readonly name?: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A digest of `text`, salted for the call, so that a reader of the database cannot guess the text. */
export const saltedHash = (text: string, { salt }: CallHeader) =>
  hash('sha256', `${salt} ${text}`, 'base64url');

/** A keyed digest of the method and the tool's name. With the key, an operator can find the calls of a tool. */
export const targetDigest = ({ method, target }: CallHeader, ring: KeyRing) =>
  derivePseudonym(`${method} ${target}`, ring[0]);

/** A digest of answers. Equal answers have equal digests, in any order. */
export const hashAnswers = (responses: RoundMessage['responses'], head: CallHeader) =>
  saltedHash(canonicalJson(withoutStamps(responses ?? {})), head);

/** A stored record that does not open. */
export class Unopened extends Error {
  constructor(what: string, call: string) {
    super(
      `The ${what} of call ${call} does not open: it was changed, or sealed with a key that is not among the policy’s ` +
        '`keys`. Give all instances the same keys.',
    );
  }
}

/**
 * Seals and opens the records of one call, with a key of its own. A record opens only for its call and its kind. The key
 * is stored, sealed with the policy's current key, and sealed again with every turn. So an operator can replace the
 * policy's keys while calls wait. By default it is a new key.
 */
export function callKeyOf(call: string, secret = randomBytes(32).toString('base64url')) {
  const own = keyRing([secret]);
  return {
    call,
    /** Seals the call's key with the first key of the key ring. */
    sealKey: (ring: KeyRing) => sealAtRest(secret, `${call} key`, ring),
    seal: (record: unknown, what: string) => sealAtRest(JSON.stringify(record), `${call} ${what}`, own),
    /** @throws Unopened when it was not sealed as this kind, for this call. */
    open<T>(sealed: Uint8Array, what: string) {
      const text = openAtRest(sealed, `${call} ${what}`, own);
      if (text === undefined) throw new Unopened(what, call);
      return JSON.parse(text) as T;
    },
  };
}

export type CallKey = ReturnType<typeof callKeyOf>;

/** @throws Unopened when no key of the key ring opens `key`. */
export function openCallKey(call: string, key: Uint8Array, ring: KeyRing): CallKey {
  const secret = openAtRest(key, `${call} key`, ring);
  if (secret === undefined) throw new Unopened('key', call);
  return callKeyOf(call, secret);
}

const KINDS = { ElicitationDeclined, ContinuationLost, CannotAsk, ProtocolError } as const;

/** The record of a thrown value, even one whose properties throw when they are read. */
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
 * The error from its record. An error that ends a call in a special way keeps its class. Any other becomes an `Error`
 * with the same name, message and properties. The handler sees this form on its first run too, so both runs see the same
 * error.
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

/** The JSON form of a request's caller. */
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
