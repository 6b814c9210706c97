/** Where handlers of shape H wait for their users in this process's memory. */
import { randomBytes } from 'node:crypto';
import { CannotAsk, ContinuationLost, type InputRequests, StoreFull, speaksMrtr } from '@mrtr/core';
import { askProblem, type Call, publish, requireWholeNumbers } from '@mrtr/core/shape';
import { FrameContext } from './context.ts';
import { Frame, type Pause } from './frame.ts';
import { continuationState, type LinearRound, type LinearStore, type Turn } from './store.ts';
import { CLIENT_CANCELLED, NO_NEW_CALLS, PRINCIPAL_FULL, SERVER_FULL, UNANSWERED } from './words.ts';

/** The options of a {@link ContinuationStore}. Everything has a default. */
export interface ContinuationStoreOptions {
  /** How long a parked handler waits for one answer, in seconds. Default 600. */
  readonly ttlSeconds?: number;
  /** Calls that may be running or parked at once. Default 10 000; one costs about 1.5 KB and what its handler holds. */
  readonly maxFrames?: number;
  /** The same for one principal. Default 100. Anonymous calls count towards `maxFrames` only. */
  readonly maxFramesPerPrincipal?: number;
  /**
   * Called whenever a frame is parked: the label of this instance, as the server's own router knows it. `requestState`
   * then ends in `~label`, which everybody can read and nobody can change. A label has 1 to 64 characters of
   * `A–Z a–z 0–9 . _ -`. Left out, or undefined: no label, and any instance may get the retry.
   */
  readonly locate?: (() => string | undefined) | undefined;
}

// Ending one runs its handler to its end, 0.1 ms or more: so many block the event loop for some milliseconds.
const SWEEP_AT_ONCE = 50;
// Node fires a longer timer at once. A sweep that comes too early finds nothing and waits again.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** As long as every id. */
const ANY_ID = 'x'.repeat(22);
const SHUTTING_DOWN = 'The server is shutting down, and the call was ended.';

/**
 * Holds the frames of `linear` between rounds, in this process's memory. One store may serve any number of
 * tools; it must outlive the server instances of single requests. It never keeps the process alive by itself.
 */
export class ContinuationStore implements LinearStore {
  readonly #ttlMs: number;
  readonly #maxFrames: number;
  readonly #maxPerPrincipal: number;
  readonly #locate: () => string | undefined;
  // One time to live for all, so insertion order is deadline order and a sweep stops at the first live frame.
  readonly #parked = new Map<string, Frame>();
  // Started and neither parked nor settled.
  readonly #running = new Set<Frame>();
  readonly #perPrincipal = new Map<string | undefined, number>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @throws InvalidPolicy for an option that is not a whole number of at least 1. */
  constructor(options: ContinuationStoreOptions = {}) {
    const { ttlSeconds = 600, maxFrames = 10_000, maxFramesPerPrincipal = 100 } = options;
    this.#locate = options.locate ?? (() => undefined);
    requireWholeNumbers('ContinuationStore', { ttlSeconds, maxFrames, maxFramesPerPrincipal });
    this.#ttlMs = ttlSeconds * 1000;
    this.#maxFrames = maxFrames;
    this.#maxPerPrincipal = maxFramesPerPrincipal;
  }

  /** How many handlers are parked now: asked, and waiting for their client to come back. */
  get parked(): number {
    return this.#parked.size;
  }

  /**
   * Starts a handler, or hands a parked one its answers, and parks it when it has asked.
   *
   * @throws StoreFull when there is no room for one more call, for anybody or for this principal, and after `close()`.
   * @throws ContinuationLost when there is no such frame here, or no longer.
   */
  async round({ handler, input, id, call, ctx }: LinearRound): Promise<Turn> {
    const frame = id === undefined ? this.#admit(new Frame(call)) : this.#take(id);
    const { signal } = ctx.mcpReq;
    const giveUp = () => frame.abort(new ContinuationLost(CLIENT_CANCELLED));
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    frame.askable = call.askable;
    frame.request = ctx;
    try {
      const pause = await (id === undefined
        ? start(frame, call, () => handler(input as never, new FrameContext(frame, call.id)))
        : frame.resume(ctx.mcpReq.inputResponses ?? {}));
      if (pause.kind === 'asked') return this.#wait(frame, pause.requests, { call, ctx });
      this.#release(frame);
      return pause;
    } finally {
      frame.request = undefined;
      signal.removeEventListener('abort', giveUp);
    }
  }

  /**
   * Aborts every handler, parked or running: its signal fires, what it waits for rejects, its `finally` blocks
   * run. Resolves when all of them have settled. Nothing is admitted afterwards.
   */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const frames = [...this.#running, ...this.#parked.values()];
    this.#parked.clear();
    const settled = frames.map((frame) => new Promise<void>((resolve) => frame.whenSettled(resolve)));
    for (const frame of frames) this.#giveUp(frame, new ContinuationLost(SHUTTING_DOWN));
    await Promise.all(settled);
  }

  #admit(frame: Frame): Frame {
    if (this.#closed) throw new StoreFull(NO_NEW_CALLS);
    const own = this.#perPrincipal.get(frame.principal) ?? 0;
    if (this.#running.size + this.#parked.size >= this.#maxFrames) throw new StoreFull(SERVER_FULL);
    if (frame.principal !== undefined && own >= this.#maxPerPrincipal) {
      throw new StoreFull(PRINCIPAL_FULL);
    }
    this.#running.add(frame);
    this.#perPrincipal.set(frame.principal, own + 1);
    return frame;
  }

  /** Gives back the room of a call whose handler has settled. */
  #release(frame: Frame): void {
    if (!this.#running.delete(frame)) return;
    const others = (this.#perPrincipal.get(frame.principal) ?? 1) - 1;
    if (others === 0) this.#perPrincipal.delete(frame.principal);
    else this.#perPrincipal.set(frame.principal, others);
  }

  #wait(frame: Frame, requests: InputRequests, { call, ctx }: Pick<LinearRound, 'call' | 'ctx'>): Turn {
    // Between the end of the round and here.
    if (ctx.mcpReq.signal.aborted) throw this.#giveUp(frame, new ContinuationLost(CLIENT_CANCELLED));
    const routingLabel = this.#whereabouts(frame);
    const problem = askProblem(call, requests, { requestState: continuationState(ANY_ID), routingLabel });
    if (problem) {
      // Nobody can answer it, so it must not wait. The boundary finds the same problem and answers the client.
      const Reason = problem.kind === 'unaskable' ? CannotAsk : ContinuationLost;
      this.#giveUp(frame, new Reason(problem.message));
      return { kind: 'asked', id: undefined, requests, routingLabel };
    }
    const id = this.#park(frame);
    // The shim's rounds are one request: its end is the call's, and a frame that waits for it would leak.
    if (!speaksMrtr(ctx))
      ctx.mcpReq.signal.addEventListener(
        'abort',
        () => this.#end(id, new ContinuationLost(CLIENT_CANCELLED)),
        { once: true },
      );
    return { kind: 'asked', id, requests, routingLabel };
  }

  #whereabouts(frame: Frame): string | undefined {
    try {
      return this.#locate();
    } catch (error) {
      // No retry could be routed to it, so it must not wait.
      this.#giveUp(frame, new ContinuationLost('This server cannot say where the call is resumed.'));
      throw error;
    }
  }

  /** Parks a frame; the returned id takes it out again, once. */
  #park(frame: Frame): string {
    if (this.#closed) throw this.#giveUp(frame, new ContinuationLost(SHUTTING_DOWN));
    const id = randomBytes(16).toString('base64url');
    frame.deadline = Date.now() + this.#ttlMs;
    this.#running.delete(frame);
    this.#parked.set(id, frame);
    this.#watch();
    return id;
  }

  /** Takes a parked frame out. Of two resumes of one continuation the first wins, and the other finds nothing. */
  #take(id: string): Frame {
    const frame = this.#parked.get(id);
    if (!frame || frame.deadline <= Date.now()) {
      throw new ContinuationLost(
        'This call cannot be resumed here: its continuation expired, was resumed already, or is held by another ' +
          'server instance. Start the call again.',
      );
    }
    this.#parked.delete(id);
    this.#running.add(frame);
    return frame;
  }

  /** Ends a parked frame. One that was taken out meanwhile is left alone. */
  #end(id: string, reason: ContinuationLost): void {
    const frame = this.#parked.get(id);
    if (!frame) return;
    this.#parked.delete(id);
    this.#running.add(frame);
    this.#giveUp(frame, reason);
  }

  /** Aborts a frame and gives its room back when its handler has settled. Returns the reason it was given. */
  #giveUp<Reason extends Error>(frame: Frame, reason: Reason): Reason {
    frame.abort(reason);
    frame.whenSettled(() => this.#release(frame));
    return reason;
  }

  #watch(): void {
    if (this.#timer || this.#closed) return;
    const oldest = this.#parked.values().next().value;
    if (!oldest) return;
    const wait = Math.max(0, oldest.deadline - Date.now());
    this.#timer = setTimeout(() => this.#sweep(), Math.min(wait, LONGEST_TIMER_MS));
    this.#timer.unref();
  }

  /** Aborts what has expired, a few at once, so that a crowd of them never blocks the event loop. */
  #sweep(): void {
    this.#timer = undefined;
    const now = Date.now();
    // One for all of them: an error each, with its stack, would be most of what a sweep costs.
    const reason = new ContinuationLost(UNANSWERED);
    let swept = 0;
    for (const [id, { deadline }] of this.#parked) {
      if (deadline > now || swept++ === SWEEP_AT_ONCE) break;
      this.#end(id, reason);
    }
    this.#watch();
  }
}

function start(frame: Frame, { id, target }: Call, handler: () => unknown): Promise<Pause> {
  publish('mrtr:handler', { call: id, shape: 'linear', target, part: 'handler' });
  return frame.start(handler);
}
