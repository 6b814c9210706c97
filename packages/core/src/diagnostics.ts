/**
 * What the libraries tell an observer, over `node:diagnostics_channel`. Nothing is computed for a channel
 * that nobody listens to. The events never carry arguments, answers or state: only names, counts and reasons.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';

/** `mrtr:round`: one request of a logical call reached the boundary, or was answered. */
export interface RoundEvent {
  readonly phase: 'start' | 'end';
  readonly method: string;
  readonly target: string;
  /** 1 for the first request; later ones are counted only where the call carries `requestState`. */
  readonly round: number;
  /** Only at the start: the id of the state that the request came with, as `mrtr:state` told it when it was sealed.
   * Undefined for a first round, and wherever the call carries no state. */
  readonly continues?: string | undefined;
  /** Only at the start: the client's W3C trace context, where it sent one in `_meta`. Whatever a client wrote. */
  readonly traceparent?: string | undefined;
  /** Only at the end. */
  readonly outcome?: 'input_required' | 'complete' | 'error';
  /** Only at the end: the shape that served it, which told `mrtr:handler` when it entered the author's function.
   * Undefined where there is none, and the author's function was entered once. */
  readonly shape?: string | undefined;
}

/** `mrtr:handler`: a shape entered the author's function. */
export interface HandlerEvent {
  readonly shape: string;
  readonly target: string;
}

/** `mrtr:ask`: questions are going out, in a result or (`live`) over the held-open stream of an old client. */
export interface AskEvent {
  readonly target: string;
  readonly keys: readonly string[];
  readonly live: boolean;
}

/** `mrtr:effect`: a guarded effect ran, or was held back because an earlier round ran it. */
export interface EffectEvent {
  readonly shape: string;
  readonly key: string;
  readonly phase: 'ran' | 'held';
}

/** `mrtr:state`: request state was sealed, opened or rejected. `reason` is for operators and never on the wire. */
export interface StateEvent {
  readonly phase: 'sealed' | 'opened' | 'rejected' | 'replayed';
  readonly method: string;
  readonly target: string;
  readonly bytes: number;
  /** The token's unique id, which is no secret. Undefined for what was rejected: it could be anybody's. */
  readonly id?: string | undefined;
  readonly reason?: string;
}

interface Events {
  'mrtr:round': RoundEvent;
  'mrtr:handler': HandlerEvent;
  'mrtr:ask': AskEvent;
  'mrtr:effect': EffectEvent;
  'mrtr:state': StateEvent;
}

const channels = {
  'mrtr:round': channel('mrtr:round'),
  'mrtr:handler': channel('mrtr:handler'),
  'mrtr:ask': channel('mrtr:ask'),
  'mrtr:effect': channel('mrtr:effect'),
  'mrtr:state': channel('mrtr:state'),
};

/** The channels' names, for whoever subscribes. */
export type ChannelName = keyof Events;

/** Whether anybody listens, for what takes work to tell. */
export const isObserved = (name: ChannelName): boolean => channels[name].hasSubscribers;

/** Tells `name`'s subscribers, if there are any. */
export function publish<Name extends ChannelName>(name: Name, event: Events[Name]): void {
  if (channels[name].hasSubscribers) channels[name].publish(event);
}

/** Tells that a round starts, and runs it with whatever stores are bound by {@link bindRounds}. */
export const publishAround = <T>(start: RoundEvent, round: () => T): T =>
  channels['mrtr:round'].runStores(start, round);

/**
 * Binds `store` to rounds: everything that happens in one, and whatever is published on any channel there, finds
 * what `enter` made of the round's start. The returned function ends it.
 */
export function bindRounds<T>(store: AsyncLocalStorage<T>, enter: (start: RoundEvent) => T): () => void {
  channels['mrtr:round'].bindStore(store, (message) => enter(message as RoundEvent));
  return () => void channels['mrtr:round'].unbindStore(store);
}

/** Subscribes to one channel; the returned function ends it. */
export function observe<Name extends ChannelName>(
  name: Name,
  listener: (event: Events[Name]) => void,
): () => void {
  const onMessage = (message: unknown) => listener(message as Events[Name]);
  channels[name].subscribe(onMessage);
  return () => channels[name].unsubscribe(onMessage);
}
