/** What is kept of a call, as sealed JSON: how it began, what came in, what went out, and what its steps gave. */
import { hash } from 'node:crypto';
import { ProtocolError } from '@modelcontextprotocol/server';
import {
  CannotAsk,
  ContinuationLost,
  canonicalJson,
  ElicitationDeclined,
  type InputKind,
  type InputRequests,
  type InputResponses,
  openAtRest,
  type RequestStatePolicy,
  sealAtRest,
} from '@mrtr/core';

/** What a call began with. A handler that is started again has to see the same. */
export interface Head {
  readonly method: string;
  readonly target: string;
  readonly input: unknown;
  /** Who called, as the policy says it. Only this caller may answer. */
  readonly caller: string | undefined;
  /** What the handler gets to see of that. */
  readonly principal: string | undefined;
  readonly askable: readonly InputKind[];
  readonly maxRounds: number;
  readonly maxQuestions: number;
  /** What {@link unread} is made with. */
  readonly salt: string;
}

/** What a client sent in a later round; without `responses`, the call is to end. */
export interface Message {
  readonly responses?: InputResponses | Readonly<Record<string, unknown>> | undefined;
  readonly askable: readonly InputKind[];
  /** The instance that waits for what comes of it. */
  readonly from: string;
}

/** How a turn of a call ended. `lost`: it cannot go on, and why. `overdrawn`: why nobody may answer. */
export type TurnRecord =
  | { readonly kind: 'asked'; readonly requests: InputRequests; readonly overdrawn?: string }
  | { readonly kind: 'returned'; readonly value?: unknown }
  | { readonly kind: 'threw'; readonly error: ErrorRecord }
  | { readonly kind: 'lost'; readonly why: string };

/** What a step gave. */
export type StepRecord = { readonly value?: unknown } | { readonly error: ErrorRecord };

/** An error, as it crosses from one instance to another. */
export interface ErrorRecord {
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

/** Seals and opens the records of calls. Each opens only as what it was sealed as, and for its call. */
export class Vault {
  readonly #ring: RequestStatePolicy['ring'];

  constructor(ring: RequestStatePolicy['ring']) {
    this.#ring = ring;
  }

  seal(record: unknown, call: string, what: string): Buffer {
    return sealAtRest(JSON.stringify(record), `${call} ${what}`, this.#ring);
  }

  /** @throws Error when no key of this instance opens it. */
  open<T>(sealed: Uint8Array, call: string, what: string): T {
    const text = openAtRest(sealed, `${call} ${what}`, this.#ring);
    if (text !== undefined) return JSON.parse(text) as T;
    throw new Error(
      `The ${what} of call ${call} does not open: it was changed, or sealed with a key that is not among ` +
        'the policy’s `keys`. Give all instances the same keys.',
    );
  }
}

/** What there is to keep of a thrown value. */
export function errorRecord(thrown: unknown): ErrorRecord {
  if (!(thrown instanceof Error)) return { message: String(thrown), properties: {} };
  const { name, message, stack } = thrown;
  return { name, message, stack, properties: jsonOf({ ...thrown }) };
}

/**
 * The error again. Those that end a call in a way of their own are what they were; any other is an `Error` of the same
 * name, message and properties. It is so in the process that recorded it, too: a handler must not see, when it is run
 * again, another error than it saw first.
 */
export function revivedError({ name, message, stack, properties }: ErrorRecord): Error {
  const error = rebuilt(name, message, properties);
  if (stack !== undefined) Object.defineProperty(error, 'stack', { value: stack, configurable: true });
  return error;
}

function rebuilt(name: string | undefined, message: string, properties: Readonly<Record<string, unknown>>) {
  if (name === 'ElicitationDeclined')
    return new ElicitationDeclined(properties.action === 'cancel' ? 'cancel' : 'decline');
  if (name === 'ContinuationLost') return new ContinuationLost(message);
  if (name === 'CannotAsk') return new CannotAsk(message);
  if (name === 'ProtocolError' && typeof properties.code === 'number')
    return new ProtocolError(properties.code, message, properties.data);
  const error = Object.assign(new Error(message), properties);
  if (name !== undefined) Object.defineProperty(error, 'name', { value: name, configurable: true });
  return error;
}

function jsonOf(properties: Record<string, unknown>): Record<string, unknown> {
  const json = Object.entries(properties).flatMap(([key, value]) => {
    try {
      const text = JSON.stringify(value);
      return text === undefined ? [] : [[key, JSON.parse(text) as unknown]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(json);
}
