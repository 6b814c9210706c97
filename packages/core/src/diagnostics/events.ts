/**
 * Events for observers, over `node:diagnostics_channel`. Nothing is computed for a channel without subscribers. The
 * events never carry arguments, answers or state: only names, counts, ids and reasons. The one exception is the receipt
 * of an approval: it holds the words that were shown.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import { type Channel, channel } from 'node:diagnostics_channel';
import type { Rejection } from './rejection-reasons.ts';

/** The call of an event. */
interface OfCall {
  /** The call's id, the same in all its rounds. */
  readonly call: string;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly target: string;
}

/**
 * `mrtr:round`: a round began, just before its handler is entered, or ended. A request that is rejected before that, or
 * gets a recorded result, has no round.
 */
export interface RoundEvent extends OfCall {
  readonly phase: 'start' | 'end';
  readonly method: string;
  /** 1 for the first request. */
  readonly round: number;
  /** Only at the start: the caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym?: string | undefined;
  /** Only at the start: the client's W3C trace context from `_meta`, if it sent one. Unchecked client input. */
  readonly traceparent?: string | undefined;
  /** Set only at the end. `error` also of a result with `isError`: what a tool throws becomes one. */
  readonly outcome?: 'input_required' | 'complete' | 'error';
}

/** `mrtr:handler`: the author's code was entered. */
interface HandlerEvent extends OfCall {
  /** The shape that entered it; undefined for a plain SDK handler. */
  readonly shape?: string | undefined;
  /** A whole handler, or a part of a tool that is written in parts. */
  readonly part: 'handler' | 'step' | 'end' | 'resolver' | 'body';
  /** The step's or resolver's name. */
  readonly name?: string | undefined;
}

/** `mrtr:ask`: questions go out, in a result or (`live`) over the open stream of an old client. */
interface AskEvent extends OfCall {
  readonly keys: readonly string[];
  readonly live: boolean;
}

/** `mrtr:answer`: at least two answers in a row to one question did not count, and it is asked again. */
export interface AnswerEvent extends OfCall {
  readonly method: string;
  readonly key: string;
  /**
   * `unread`: no code read the answer. `reworded`: the question's words have changed. `invalid`: the schema rejected it.
   */
  readonly reason: 'unread' | 'reworded' | 'invalid';
  /** The number of answers to this question in a row that did not count. */
  readonly times: number;
  /** A similar key that the handler read but did not ask. */
  readonly didYouMean?: string | undefined;
}

/** `mrtr:effect`: a guarded effect ran, or was skipped because an earlier round ran it. */
interface EffectEvent {
  readonly call: string;
  readonly shape: string;
  readonly key: string;
  readonly phase: 'ran' | 'skipped';
}

/** `mrtr:state`: request state was sealed, opened, or its recorded result was repeated. */
interface StateEvent extends OfCall {
  readonly phase: 'sealed' | 'opened' | 'replayed';
  readonly method: string;
  readonly bytes: number;
}

/** `mrtr:rejection`: a request was rejected. */
export interface RejectionEvent extends Rejection {
  /** The length of the state, if state was rejected. */
  readonly bytes?: number | undefined;
  readonly call?: string | undefined;
  readonly method?: string | undefined;
  readonly target?: string | undefined;
}

/** `mrtr:ledger`: a ledger answered, failed, or took longer than 5 seconds. */
export interface LedgerEvent {
  readonly operation: 'lease' | 'settle' | 'release';
  readonly outcome: 'answered' | 'failed';
  readonly seconds: number;
}

/**
 * The strength of an approval's proof. `form`: the client chose this answer to these words. `typed-form`: it also
 * repeated a text. `page`: a request in the caller's session pressed a button on a page of the server. `verified-page`:
 * it also passed the author's own check there.
 */
export type Assurance = 'form' | 'typed-form' | 'page' | 'verified-page';

/** The record of an approval, as plain JSON. Store it with the effect. */
export interface Receipt {
  /** The same each time the handler reads this approval. */
  readonly id: string;
  /** The text that was sent to the client or the page. It does not prove what a client showed. */
  readonly words: string;
  /** SHA-256 of `words` in UTF-8, base64url. */
  readonly wordsDigest: string;
  readonly assurance: Assurance;
  /** The call's id. */
  readonly call: string;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly tool: string;
  /** SHA-256 of the canonical JSON (RFC 8785) of the arguments, base64url. */
  readonly argumentsDigest: string;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym?: string | undefined;
  /** In seconds since the epoch. */
  readonly askedAt: number;
  /** In seconds since the epoch. */
  readonly answeredAt: number;
}

/**
 * `mrtr:approval`: an answer to an approval came in. Its receipt holds the words, which may contain values of the call.
 */
export interface ApprovalEvent extends OfCall {
  /**
   * `refused`: the user chose the refusal. `declined` and `cancelled`: the client said so, perhaps without asking
   * anyone. `missing` and `invalid`: an acceptance that approves nothing, such as an empty form; the question is asked
   * again.
   */
  readonly outcome: 'approved' | 'refused' | 'declined' | 'cancelled' | 'missing' | 'invalid';
  /** Set only if `approved`. */
  readonly receipt?: Receipt;
}

/** The events, by the names of their channels. */
export interface Events {
  'mrtr:round': RoundEvent;
  'mrtr:handler': HandlerEvent;
  'mrtr:ask': AskEvent;
  'mrtr:answer': AnswerEvent;
  'mrtr:approval': ApprovalEvent;
  'mrtr:effect': EffectEvent;
  'mrtr:state': StateEvent;
  'mrtr:rejection': RejectionEvent;
  'mrtr:ledger': LedgerEvent;
}

// Kept, and not looked up by name each time: a channel without subscribers is collected as garbage, and in Node 20 the
// late finalizer of the old channel removes the one that was made in its place, with its subscribers.
const NAMES = [
  'mrtr:round',
  'mrtr:handler',
  'mrtr:ask',
  'mrtr:answer',
  'mrtr:approval',
  'mrtr:effect',
  'mrtr:state',
  'mrtr:rejection',
  'mrtr:ledger',
] as const satisfies readonly (keyof Events)[];

const channels = Object.fromEntries(NAMES.map((name) => [name, channel(name)])) as Record<
  keyof Events,
  Channel
>;

/** Publishes `event` to the subscribers of `name`, if there are any. */
export function publish<Name extends keyof Events>(name: Name, event: Events[Name]) {
  if (channels[name].hasSubscribers) channels[name].publish(event);
}

/** Publishes a round's start, and runs the round inside the stores of {@link bindRounds}. */
export const publishAround = <T>(start: RoundEvent, round: () => T): T =>
  channels['mrtr:round'].runStores(start, round);

/**
 * Binds `store` to rounds: code in a round, and subscribers of its events, read the value that `enter` made from its
 * start. Call the returned function to unbind it.
 */
export function bindRounds<T>(store: AsyncLocalStorage<T>, enter: (start: RoundEvent) => T): () => void {
  channels['mrtr:round'].bindStore(store, (message) => enter(message as RoundEvent));
  return () => void channels['mrtr:round'].unbindStore(store);
}

/**
 * Subscribes to one channel. Call the returned function to unsubscribe.
 *
 * @example const stop = observe('mrtr:rejection', ({ reason, detail }) => log.info({ reason, detail }));
 */
export function observe<Name extends keyof Events>(
  name: Name,
  listener: (event: Events[Name]) => void,
): () => void {
  const onMessage = (message: unknown) => listener(message as Events[Name]);
  channels[name].subscribe(onMessage);
  return () => void channels[name].unsubscribe(onMessage);
}

/** Publishes that `shape` enters a handler, or the part `name` of a tool that is written in parts. */
export function publishEntry(
  { id, target }: { readonly id: string; readonly target: string },
  shape: string,
  part: HandlerEvent['part'] = 'handler',
  name?: string,
): void {
  publish('mrtr:handler', { call: id, shape, target, part, name });
}
