/** Keeps waiting handlers of shape H in this process's memory. */
import { CannotAsk, StoreFull, speaksMrtr } from '@mrtr/core';
import {
  addGauge,
  aFunction,
  anyValue,
  limitsOf,
  Quota,
  requireOptions,
  tellOperator,
  wholeNumber,
} from '@mrtr/core/internal';
import { findAskProblem, publishEntry, withNotes } from '@mrtr/core/shape';
import { callerOf } from '../kit/handler-context.ts';
import { heldBytes } from '../kit/held-bytes.ts';
import { type Abandoned, countAbandoned } from './abandoned.ts';
import { FrameContext } from './context.ts';
import { Frame, type FrameTurn } from './frame.ts';
import {
  argumentsFull,
  CLIENT_CANCELLED,
  ContinuationLost,
  callsFull,
  NO_NEW_CALLS,
  UNANSWERED,
} from './messages.ts';
import { continuationState, type LinearRound, type LinearStore, type RoundEnd } from './store.ts';

/** The options of a {@link ContinuationStore}. Everything has a default. */
export interface ContinuationStoreOptions {
  /** How long a parked handler waits for one answer, in seconds. Default 600. */
  readonly ttlSeconds?: number;
  /** Limits of what the store holds. Over them, a call is rejected before it runs. */
  readonly limits?:
    | {
        /** Calls that run or are parked at once. Default 10 000; each costs about 1.7 KB and its handler's memory. */
        readonly frames?: number | undefined;
        /** Estimated memory of all their arguments, in bytes. Default 64 MiB. */
        readonly bytes?: number | undefined;
        /**
         * The share of each that one principal may take, above 0 and at most 1. Default 1/32. Anonymous callers share all of
         * them.
         */
        readonly perPrincipal?: number | undefined;
      }
    | undefined;
  /**
   * Gets failures that no client sees: a handler that still runs 10 s after its call or keeps asking, the limit of such
   * handlers, and errors of listeners of `ctx.signal`. Without it, the first error of each kind becomes a process
   * warning.
   */
  readonly onerror?: ((error: Error) => void) | undefined;
  /**
   * Returns this instance's label in the server's own router. Called whenever a frame is parked. `requestState` then
   * ends in `~label`, which anyone can read and nobody can change. A label has 1 to 64 characters of `A–Z a–z 0–9 . _
   * -`. Without `locate`, or if it returns undefined, there is no label, and any instance may get the retry.
   */
  readonly locate?: (() => string | undefined) | undefined;
}

// The number of frames to abort in one turn. Each abort runs a handler to its end, for 0.1 ms or more; more of them
// would block the event loop.
const SWEEP_AT_ONCE = 50;
// Node fires a longer timer at once. An early sweep finds nothing and waits again.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** @internal */
export const DEFAULT_LIMITS = { frames: 10_000, bytes: 67_108_864, perPrincipal: 1 / 32 };
/** @internal */
export const TTL_SECONDS = 600;
/**
 * As many as the calls of a policy. Up to this limit an abandoned handler gives back the place and the bytes of its call;
 * above it, the handler keeps them until it ends. So it bounds the memory of abandoned handlers, which may hold their
 * arguments.
 *
 * @internal
 */
export const MOST_ABANDONED = 1000;
const GONE_OPTIONS = {
  maxFrames: 'Write `limits: { frames }`.',
  maxBytes: 'Write `limits: { bytes }`.',
  maxFramesPerPrincipal: 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/32.',
  maxBytesPerPrincipal: 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/32.',
  maxAbandoned: `As many as \`limits: { frames }\` are counted, and at most ${MOST_ABANDONED}.`,
  maxAbandonedPerPrincipal: 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/32.',
};
/** In whole milliseconds, by a clock that nobody sets. */
const now = () => Math.ceil(performance.now());
const NOT_HERE =
  'This call cannot be resumed here: its continuation expired, was resumed already, or is held by another ' +
  'process. Start the call again.';
const OTHER_WAITS = 'Another handler of the same call waits now, and this one was ended.';
const SHUTTING_DOWN = 'The server is shutting down, and the call was ended.';

/**
 * Holds the frames of `linear` between rounds, in this process's memory. One store may serve any number of tools; it
 * must outlive each `McpServer`, which may serve a single request. It does not keep the process alive.
 *
 * @example
 * const store = new ContinuationStore({ limits: { frames: 1000 } });
 * server.registerTool('deploy', { inputSchema }, linear(deploy, { store }));
 */
export class ContinuationStore implements LinearStore {
  readonly #ttlMs: number;
  readonly #places: Quota;
  readonly #bytes: Quota;
  readonly #maxBytes: number;
  readonly #abandoned: Abandoned;
  readonly #onerror: (error: Error) => void;
  readonly #locate: () => string | undefined;
  // All frames have the same time to live, so they expire in the order of insertion, and a sweep stops at the first
  // live one.
  readonly #parked = new Map<string, Frame>();
  // Frames with an open round.
  readonly #running = new Set<Frame>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @throws InvalidOption for an option that does not exist, or has a value that it cannot have. */
  constructor(options: ContinuationStoreOptions = {}) {
    const checks = { ttlSeconds: wholeNumber(), limits: anyValue, onerror: aFunction, locate: aFunction };
    requireOptions('ContinuationStore', options, checks, GONE_OPTIONS);
    const { ttlSeconds = TTL_SECONDS, locate, onerror } = options;
    const { frames, bytes, perPrincipal } = limitsOf('ContinuationStore', options.limits, DEFAULT_LIMITS);
    this.#locate = locate ?? (() => undefined);
    this.#onerror = (error) => tellOperator(error, onerror);
    this.#ttlMs = ttlSeconds * 1000;
    this.#places = new Quota(frames, perPrincipal);
    this.#bytes = new Quota(bytes, perPrincipal);
    this.#maxBytes = bytes;
    this.#abandoned = countAbandoned(Math.min(frames, MOST_ABANDONED), perPrincipal, this.#onerror);
    addGauge('frames.parked', this, ({ parked }) => parked);
  }

  /** The number of parked handlers, which wait for their client's answer. */
  get parked(): number {
    return this.#parked.size;
  }

  /**
   * Starts a handler, or resumes a parked one with its answers, and parks it when it has asked.
   *
   * @throws StoreFull when the limit of all calls, or of this principal's, is reached, and after `close()`.
   * @throws ContinuationLost when this store does not hold the frame (any more).
   */
  async runRound({ handler, input, id, call, ctx }: LinearRound): Promise<RoundEnd> {
    const frame = id === undefined ? this.#admit(new Frame(call, this.#onerror), input) : this.#take(call);
    const { signal } = call;
    const cancel = () => void this.#abortFrame(frame, new ContinuationLost(CLIENT_CANCELLED));
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    frame.askable = call.askable;
    frame.caller = callerOf(ctx);
    frame.request = ctx;
    try {
      if (id === undefined) publishEntry(call, 'linear');
      const turn = await (id === undefined
        ? frame.start(() => handler(input as never, new FrameContext(frame)))
        : frame.resume(ctx.mcpReq.inputResponses ?? {}));
      if (turn.kind === 'asked') return this.#wait(frame, turn, { call, ctx });
      this.#release(frame);
      return turn;
    } finally {
      frame.request = undefined;
      signal.removeEventListener('abort', cancel);
    }
  }

  /**
   * Aborts every handler, parked or running: its signal fires, its open questions reject, its `finally` blocks run.
   * Resolves when all of them have ended, or after 10 s. The store rejects all later calls.
   */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const reason = new ContinuationLost(SHUTTING_DOWN);
    for (const frame of [...this.#running]) this.#abortFrame(frame, reason);
    for (const frame of [...this.#parked.values()]) this.#end(frame, reason);
    // Wait until running handlers are counted as abandoned.
    await new Promise(setImmediate);
    await this.#abandoned.waitForEnd();
  }

  #admit(frame: Frame, input: unknown) {
    if (this.#closed) throw new StoreFull(NO_NEW_CALLS);
    const { pseudonym } = frame;
    const full = this.#places.take(pseudonym);
    if (full) throw callsFull(full);
    const bytes = heldBytes(input, this.#maxBytes);
    const large = this.#bytes.take(pseudonym, bytes);
    if (large) {
      this.#places.giveBack(pseudonym);
      throw argumentsFull(large);
    }
    frame.heldBytes = bytes;
    this.#running.add(frame);
    return frame;
  }

  /** Gives back the room of a call whose handler has settled. */
  #release(frame: Frame) {
    if (!this.#running.delete(frame)) return;
    this.#places.giveBack(frame.pseudonym);
    this.#bytes.giveBack(frame.pseudonym, frame.heldBytes);
  }

  #wait(
    frame: Frame,
    { requests, unfit }: Extract<FrameTurn, { kind: 'asked' }>,
    { call, ctx }: Pick<LinearRound, 'call' | 'ctx'>,
  ): RoundEnd {
    // The client may have cancelled between the end of the round and this line.
    if (call.signal.aborted) throw this.#abortFrame(frame, new ContinuationLost(CLIENT_CANCELLED));
    const routingLabel = this.#whereabouts(frame);
    const problem = findAskProblem(call, requests, {
      requestState: continuationState(call.id),
      routingLabel,
    });
    if (problem) {
      // The questions may not go out, so end the handler. The boundary finds the same problem and answers the client.
      const Reason = problem.kind === 'unaskable' ? CannotAsk : ContinuationLost;
      this.#abortFrame(frame, new Reason(problem.message));
      return { kind: 'asked', id: undefined, requests, routingLabel, effects: frame.effects };
    }
    this.#park(frame, call.round);
    // The shim plays all rounds within one request. When that request ends, so does the call, and a waiting frame would
    // leak.
    if (!speaksMrtr(ctx))
      call.signal.addEventListener(
        'abort',
        () => frame.round === call.round && this.#end(frame, new ContinuationLost(CLIENT_CANCELLED)),
        { once: true },
      );
    return { kind: 'asked', id: call.id, requests, routingLabel, unfit };
  }

  #whereabouts(frame: Frame) {
    try {
      return this.#locate();
    } catch (error) {
      // Without a label no retry reaches the handler, so end it.
      this.#abortFrame(frame, new ContinuationLost('This server cannot say where the call is resumed.'));
      throw error;
    }
  }

  /** Parks a frame: the next round of its call takes it out again, once. Sealed state names the call and the round. */
  #park(frame: Frame, round: number) {
    if (this.#closed) throw this.#abortFrame(frame, new ContinuationLost(SHUTTING_DOWN));
    const other = this.#parked.get(frame.call);
    // A wrapper ran two linear handlers in one request. The state leads to one of them.
    if (other) this.#end(other, new ContinuationLost(OTHER_WAITS));
    frame.deadline = now() + this.#ttlMs;
    frame.round = round;
    this.#running.delete(frame);
    this.#parked.set(frame.call, frame);
    this.#watch();
  }

  /** Takes out a parked frame. The first of two retries gets it; the second finds nothing. */
  #take({ id, round }: LinearRound['call']) {
    const frame = this.#parked.get(id);
    if (!frame || frame.round !== round - 1 || frame.deadline <= now())
      throw withNotes(new ContinuationLost(NOT_HERE), { notEntered: true });
    this.#parked.delete(id);
    this.#running.add(frame);
    return frame;
  }

  /** Aborts a parked frame, unless a retry has taken it. */
  #end(frame: Frame, reason: ContinuationLost) {
    if (this.#parked.get(frame.call) !== frame) return;
    this.#parked.delete(frame.call);
    this.#running.add(frame);
    this.#abortFrame(frame, reason);
  }

  /**
   * Aborts a frame. Its room is given back when its handler has ended. A handler that does not end within a turn counts
   * as abandoned. Returns the reason.
   */
  #abortFrame<Reason extends Error>(frame: Frame, reason: Reason) {
    frame.abort(reason, this.#abandoned.overseer);
    frame.whenSettled(() => this.#release(frame));
    setImmediate(() => this.#abandon(frame));
    return reason;
  }

  #abandon(frame: Frame) {
    if (!this.#running.delete(frame)) return;
    const { pseudonym, heldBytes } = frame;
    // This closure lives until the handler has ended, so it must not reference the frame.
    this.#abandoned.take(frame, () => {
      this.#places.giveBack(pseudonym);
      this.#bytes.giveBack(pseudonym, heldBytes);
    });
  }

  #watch() {
    if (this.#timer || this.#closed) return;
    const oldest = this.#parked.values().next().value;
    if (!oldest) return;
    const wait = Math.max(0, oldest.deadline - now());
    this.#timer = setTimeout(() => this.#sweep(), Math.min(wait, LONGEST_TIMER_MS));
    this.#timer.unref();
  }

  /** Aborts expired frames, a few at a time, so that many of them never block the event loop. */
  #sweep() {
    this.#timer = undefined;
    const time = now();
    // One error for all: creating a stack for each would dominate the cost of a sweep.
    const reason = new ContinuationLost(UNANSWERED);
    let swept = 0;
    for (const frame of this.#parked.values()) {
      if (frame.deadline > time || swept++ === SWEEP_AT_ONCE) break;
      this.#end(frame, reason);
    }
    this.#watch();
  }
}
