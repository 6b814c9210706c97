/**
 * Shows which instances are alive. Each store holds an advisory lock under its own number while its process lives and
 * reaches the database. PostgreSQL releases the lock when the session ends for any reason. The same session receives
 * notifications about calls.
 *
 * A session may end unnoticed, and other instances take over running calls after `takeOverMs`. So this side pings every
 * fifth of `takeOverMs`, waits as long for the reply, and abandons its running calls at four fifths.
 */
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { waitAtMost } from '@mrtr/core/kit';
import type { Notification, Pool, PoolClient } from 'pg';

/** An instance's callbacks. */
export interface Listener {
  message?(text: string): void;
  /** The lock is lost. If it stays lost, other instances take over. */
  lost?(): void;
  /** The lock is held, for the first time or again. */
  held?(): void;
  /** The lock did not come back in time. Abandon the running calls: other instances are about to take them over. */
  abandon?(): void;
}

const RECONNECT_MS = 200;
const RECONNECT_AT_MOST_MS = 5000;
const COMPLAIN_EVERY_MS = 60_000;
const PINGS = 5;
const LOST = 'The session that shows this instance as alive was lost.';

/** A random number for an instance, unique in practice. */
export const newInstance = (): string => (randomBytes(8).readBigUInt64BE() >> 1n).toString();

/** The channel on which an instance listens. */
export const channelOf = (instance: string): string => `mrtr_linear_${instance}`;

/** This process's session. Replaces a lost session; meanwhile other instances may take over its calls. */
export class Presence {
  readonly #pool: Pool;
  readonly #takeOverMs: number;
  readonly #report: (error: Error) => void;
  readonly #held = new Map<string, Listener>();
  // One session at a time: a second would wait in vain for the locks of the first.
  #connecting: Promise<void> | undefined;
  #client: PoolClient | undefined;
  /** The session's locks. Takes each once: PostgreSQL counts, and would want it released as often. */
  readonly #taken = new Map<string, Promise<void>>();
  /** Runs the session's statements one at a time. */
  #lastSent: Promise<unknown> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #wait = RECONNECT_MS;
  #complainedAt: number | undefined;
  #closed = false;
  #losses = 0;
  /** The time at which the latest answered statement was sent. The session held its locks then. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #pings: NodeJS.Timeout | undefined;
  #abandonTimer: NodeJS.Timeout | undefined;
  /** Whether a session holds the locks. Emits `held` when it becomes true. */
  #isHeld = false;
  readonly #events = new EventEmitter().setMaxListeners(0);

  /** @param takeOverMs how long other instances wait before they take over a call whose turn runs. */
  constructor(pool: Pool, takeOverMs: number, report: (error: Error) => void) {
    this.#pool = pool;
    this.#takeOverMs = takeOverMs;
    this.#report = report;
  }

  /** Shows `instance` as alive, and subscribes to its notifications. */
  async hold(instance: string, listener: Listener = {}): Promise<void> {
    this.#held.set(instance, listener);
    try {
      await this.#connect();
      await this.#take(instance);
    } catch (error) {
      this.#held.delete(instance);
      throw error;
    }
  }

  /** Shows `instance` as gone. */
  async drop(instance: string): Promise<void> {
    this.#held.delete(instance);
    this.#taken.delete(instance);
    if (!this.#client) return;
    await this.#send(this.#client, `UNLISTEN ${channelOf(instance)}`);
    await this.#send(this.#client, `SELECT pg_advisory_unlock(${instance})`);
  }

  /**
   * Resolves when the session answered a statement sent within the last half of `takeOverMs`. Until the other half has
   * passed, no other instance takes over.
   *
   * @returns the number of sessions lost so far. After another loss, read the owner of a call again.
   */
  async ensureHeld(): Promise<number> {
    for (;;) {
      while (!this.#isHeld) await once(this.#events, 'held');
      if (performance.now() - this.#confirmedAt < this.#takeOverMs / 2) return this.#losses;
      await this.#ping();
    }
  }

  /** Ends the session. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#abandonTimer);
    clearInterval(this.#pings);
    this.#client?.release(true);
    this.#client = undefined;
  }

  async #connect(): Promise<void> {
    if (this.#client) return;
    this.#connecting ??= this.#begin().finally(() => {
      this.#connecting = undefined;
    });
    await this.#connecting;
  }

  async #begin(): Promise<void> {
    const client = await this.#pool.connect();
    const onLoss = (error?: Error) => this.#reconnectAfterLoss(client, error);
    client.on('error', onLoss);
    client.on('end', () => onLoss());
    client.on('notification', ({ channel, payload }: Notification) => {
      this.#held.get(channel.slice(channelOf('').length))?.message?.(payload ?? '');
    });
    if (this.#closed) return client.release(true);
    this.#client = client;
    this.#taken.clear();
    this.#lastSent = Promise.resolve();
    try {
      for (const instance of this.#held.keys()) await this.#take(instance);
      if (this.#client === client) this.#noteHeld();
    } catch (error) {
      onLoss(error as Error);
      throw error;
    }
  }

  #noteHeld(): void {
    this.#wait = RECONNECT_MS;
    this.#complainedAt = undefined;
    clearTimeout(this.#abandonTimer);
    clearInterval(this.#pings);
    this.#pings = setInterval(() => void this.#ping(), this.#takeOverMs / PINGS);
    this.#pings.unref();
    this.#isHeld = true;
    this.#events.emit('held');
    for (const listener of this.#held.values()) listener.held?.();
  }

  /** Pings the session. If it does not answer in time, it counts as lost. */
  async #ping(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    const late = () => {
      throw new Error('The session does not answer.');
    };
    try {
      await waitAtMost(this.#send(client, 'SELECT 1'), this.#takeOverMs / PINGS, late);
    } catch (error) {
      this.#reconnectAfterLoss(client, error as Error);
    }
  }

  #take(instance: string): Promise<void> {
    if (!this.#client) return Promise.reject(new Error(LOST));
    const taken = this.#taken.get(instance) ?? this.#takeOn(this.#client, instance);
    this.#taken.set(instance, taken);
    return taken;
  }

  async #takeOn(client: PoolClient, instance: string): Promise<void> {
    await this.#send(client, `LISTEN ${channelOf(instance)}`);
    await this.#send(client, `SELECT pg_advisory_lock(${instance})`);
  }

  #send(client: PoolClient, text: string): Promise<unknown> {
    const answer = this.#lastSent.then(async () => {
      const sent = performance.now();
      await client.query(text);
      if (this.#client === client) this.#confirmedAt = sent;
    });
    this.#lastSent = answer.catch(() => {});
    return answer;
  }

  #reconnectAfterLoss(client: PoolClient, error?: Error): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    clearInterval(this.#pings);
    client.release(true);
    if (this.#closed) return;
    if (this.#isHeld) this.#noteLost();
    this.#complain(new Error(LOST, { cause: error }));
    this.#reconnect();
  }

  #noteLost(): void {
    this.#losses++;
    this.#isHeld = false;
    for (const listener of this.#held.values()) listener.lost?.();
    const left = this.#confirmedAt + (this.#takeOverMs * (PINGS - 1)) / PINGS - performance.now();
    const abandon = () => {
      for (const listener of this.#held.values()) listener.abandon?.();
    };
    this.#abandonTimer = setTimeout(abandon, Math.max(0, left));
  }

  /** Reports each loss once, and once a minute while reconnecting fails. */
  #complain(error: Error): void {
    const now = performance.now();
    if (this.#complainedAt !== undefined && now - this.#complainedAt < COMPLAIN_EVERY_MS) return;
    this.#complainedAt = now;
    this.#report(error);
  }

  #reconnect(): void {
    clearTimeout(this.#retry);
    if (this.#closed) return;
    this.#retry = setTimeout(() => {
      this.#wait = Math.min(2 * this.#wait, RECONNECT_AT_MOST_MS);
      this.#connect().catch((error: Error) => {
        this.#complain(error);
        this.#reconnect();
      });
    }, this.#wait);
  }
}
