/**
 * Shows which instances are alive. Each store holds an advisory lock under its own number for as long as its process
 * lives and reaches the database. PostgreSQL releases the lock when the session ends for any reason. The same session
 * receives notifications about calls.
 *
 * A session may end unnoticed, so this side asks it something often. Of the time that others wait before they take over
 * calls whose turn runs, one fifth passes between two looks and at most one until a look fails; after four fifths this
 * side has given the calls up.
 */
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { waitAtMost } from '@mrtr/core/kit';
import type { Notification, Pool, PoolClient } from 'pg';

/** The callbacks of an instance. */
export interface Listener {
  /** A notification. */
  message?(text: string): void;
  /** The lock is lost: another instance may take over. */
  lost?(): void;
  /** The lock is held again. */
  held?(): void;
  /** The lock was not to be had again in time: another instance may have taken over. */
  gone?(): void;
}

const RECONNECT_MS = 200;
const RECONNECT_AT_MOST_MS = 5000;
const COMPLAIN_EVERY_MS = 60_000;
const LOOKS = 5;
const LOST = 'The session that shows this instance as alive was lost.';

/** A random number for an instance, unique in practice. */
export const newInstance = (): string => (randomBytes(8).readBigUInt64BE() >> 1n).toString();

/** The channel on which an instance listens. */
export const channelOf = (instance: string): string => `mrtr_linear_${instance}`;

/** The session of this process. A lost session is replaced; meanwhile other instances may take over its calls. */
export class Presence {
  readonly #pool: Pool;
  readonly #takeOverMs: number;
  readonly #report: (error: Error) => void;
  readonly #held = new Map<string, Listener>();
  // Only one session at a time: a second would wait in vain for the locks of the first.
  #connecting: Promise<void> | undefined;
  #client: PoolClient | undefined;
  /** The locks of the session, each taken once: a lock that is taken twice has to be released twice. */
  readonly #taken = new Map<string, Promise<void>>();
  /** The statements on the session, one after the other. */
  #lastSent: Promise<unknown> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #wait = RECONNECT_MS;
  #complainedAt: number | undefined;
  #closed = false;
  /** How many sessions were lost. */
  #losses = 0;
  /** When the latest statement was sent that the session has answered. It held its locks then. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #looks: NodeJS.Timeout | undefined;
  #giveUp: NodeJS.Timeout | undefined;
  /** Whether a session holds its locks. `held` is emitted when one does again. */
  #isHeld = false;
  readonly #events = new EventEmitter().setMaxListeners(0);

  /** @param takeOverMs how long other instances wait before they take over a call whose turn runs. */
  constructor(pool: Pool, takeOverMs: number, report: (error: Error) => void) {
    this.#pool = pool;
    this.#takeOverMs = takeOverMs;
    this.#report = report;
  }

  /** Shows `instance` as alive, and listens for its notifications. */
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
   * Resolves when the locks are held for certain: nobody has waited for longer than half the time for a lost one.
   *
   * @returns the number of sessions that were lost until now. What was true of a call before another loss may be over.
   */
  async certain(): Promise<number> {
    for (;;) {
      while (!this.#isHeld) await once(this.#events, 'held');
      if (performance.now() - this.#confirmedAt < this.#takeOverMs / 2) return this.#losses;
      await this.#ask();
    }
  }

  /** Ends the session. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#giveUp);
    clearInterval(this.#looks);
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
    clearTimeout(this.#giveUp);
    clearInterval(this.#looks);
    this.#looks = setInterval(() => void this.#ask(), this.#takeOverMs / LOOKS);
    this.#looks.unref();
    this.#isHeld = true;
    this.#events.emit('held');
    for (const listener of this.#held.values()) listener.held?.();
  }

  /** Asks the session whether it lives. One that does not answer in time is lost. */
  async #ask(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    const late = () => {
      throw new Error('The session does not answer.');
    };
    try {
      await waitAtMost(this.#send(client, 'SELECT 1'), this.#takeOverMs / LOOKS, late);
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
    clearInterval(this.#looks);
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
    const left = this.#confirmedAt + (this.#takeOverMs * (LOOKS - 1)) / LOOKS - performance.now();
    const giveUp = () => {
      for (const listener of this.#held.values()) listener.gone?.();
    };
    this.#giveUp = setTimeout(giveUp, Math.max(0, left));
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
