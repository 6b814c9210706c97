/** Where parked handlers of shape H wait for their users. */
import { randomBytes } from 'node:crypto';
import { ContinuationLost, InvalidPolicy, StoreFull } from '@mrtr/core';
import type { Frame } from './frame.ts';

/** What a {@link ContinuationStore} takes. Everything has a default. */
export interface ContinuationStoreOptions {
  /** How long a parked handler waits for one answer, in seconds. Default 600. */
  readonly ttlSeconds?: number;
  /** Calls that may be running or parked at once. Default 10 000; one costs about 3 KB and what its handler holds. */
  readonly maxFrames?: number;
  /** The same for one principal. Default 100. Anonymous calls count towards `maxFrames` only. */
  readonly maxFramesPerPrincipal?: number;
}

interface Parked {
  readonly frame: Frame;
  readonly deadline: number;
}

// Ending one runs its handler to its end, 0.1 ms or more: so many block the event loop for some milliseconds.
const SWEEP_AT_ONCE = 50;
// Node fires a timer beyond this at once. A sweep that comes too early finds nothing and waits on.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const SHUTTING_DOWN = 'The server is shutting down, and the call was given up.';
/** Why a call ended whose client cancelled it, or closed its connection. */
export const CLIENT_CANCELLED = 'The client cancelled the call.';
const OPEN_CALLS =
  'unanswered calls open. Answer or cancel one of them, or try again later. Nothing of this call has run.';

/**
 * Holds the frames of `linear` between rounds, in this process's memory. One store may serve any number of
 * tools; it must outlive the server instances of single requests. It never keeps the process alive by itself.
 */
export class ContinuationStore {
  readonly #ttlMs: number;
  readonly #maxFrames: number;
  readonly #maxPerPrincipal: number;
  // One time to live for all, so insertion order is deadline order and a sweep stops at the first live frame.
  readonly #parked = new Map<string, Parked>();
  // Running or parked: what has been started and has not been released.
  readonly #admitted = new Set<Frame>();
  readonly #perPrincipal = new Map<string | undefined, number>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @throws InvalidPolicy for an option that is not a whole number of at least 1. */
  constructor(options: ContinuationStoreOptions = {}) {
    const { ttlSeconds = 600, maxFrames = 10_000, maxFramesPerPrincipal = 100 } = options;
    for (const [name, value] of Object.entries({ ttlSeconds, maxFrames, maxFramesPerPrincipal })) {
      if (!Number.isInteger(value) || value < 1) {
        throw new InvalidPolicy(
          `ContinuationStore: ${name} must be a whole number of at least 1; it is ${value}.`,
        );
      }
    }
    this.#ttlMs = ttlSeconds * 1000;
    this.#maxFrames = maxFrames;
    this.#maxPerPrincipal = maxFramesPerPrincipal;
  }

  /** How many handlers are parked now: asked, and waiting for their client to come back. */
  get parked(): number {
    return this.#parked.size;
  }

  /**
   * Makes room for one more call, before anything of it runs.
   *
   * @throws StoreFull when there is none, for anybody or for this principal, and after `close()`.
   */
  admit(frame: Frame): Frame {
    if (this.#closed)
      throw new StoreFull('This server is shutting down and takes no new calls of this kind.');
    const own = this.#perPrincipal.get(frame.principal) ?? 0;
    if (this.#admitted.size >= this.#maxFrames) throw new StoreFull(`This server has too many ${OPEN_CALLS}`);
    if (frame.principal !== undefined && own >= this.#maxPerPrincipal) {
      throw new StoreFull(`You have too many ${OPEN_CALLS}`);
    }
    this.#admitted.add(frame);
    this.#perPrincipal.set(frame.principal, own + 1);
    return frame;
  }

  /** Gives back the room of a call whose handler has settled. */
  release(frame: Frame): void {
    if (!this.#admitted.delete(frame)) return;
    const others = (this.#perPrincipal.get(frame.principal) ?? 1) - 1;
    if (others === 0) this.#perPrincipal.delete(frame.principal);
    else this.#perPrincipal.set(frame.principal, others);
  }

  /** Parks an admitted frame; the id that comes back takes it out again, once. */
  park(frame: Frame): string {
    if (this.#closed) throw this.giveUp(frame, SHUTTING_DOWN);
    const id = randomBytes(16).toString('base64url');
    this.#parked.set(id, { frame, deadline: Date.now() + this.#ttlMs });
    this.#watch();
    return id;
  }

  /** Aborts a frame and gives its room back when its handler has settled. Returns the reason it was given. */
  giveUp(frame: Frame, why: string): ContinuationLost {
    const reason = new ContinuationLost(why);
    frame.abort(reason);
    void frame.settled.then(() => this.release(frame));
    return reason;
  }

  /**
   * Takes a parked frame out. Of two resumes of one continuation the first wins, and the other finds nothing.
   *
   * @throws ContinuationLost when there is no such frame, or no longer.
   */
  take(id: string): Frame {
    const parked = this.#parked.get(id);
    if (!parked || parked.deadline <= Date.now()) {
      throw new ContinuationLost(
        'This call cannot go on here: its continuation expired, was resumed already, or is held by another ' +
          'server instance. Start the call again.',
      );
    }
    this.#parked.delete(id);
    return parked.frame;
  }

  /** Aborts a parked frame that its client gave up. One that was taken out meanwhile is left alone. */
  discard(id: string): void {
    const parked = this.#parked.get(id);
    if (!parked) return;
    this.#parked.delete(id);
    this.giveUp(parked.frame, CLIENT_CANCELLED);
  }

  /**
   * Aborts every handler, parked or running: its signal fires, what it waits for rejects, its `finally` blocks
   * run. Resolves when all of them have settled. Nothing is admitted afterwards.
   */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#parked.clear();
    const frames = [...this.#admitted];
    for (const frame of frames) this.giveUp(frame, SHUTTING_DOWN);
    await Promise.all(frames.map((frame) => frame.settled));
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
    let swept = 0;
    for (const [id, { frame, deadline }] of this.#parked) {
      if (deadline > now || swept++ === SWEEP_AT_ONCE) break;
      this.#parked.delete(id);
      this.giveUp(frame, 'Nobody answered in time, and the call was given up.');
    }
    this.#watch();
  }
}
