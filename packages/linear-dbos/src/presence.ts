/**
 * Shows which instances are alive. Each store holds an advisory lock under its own number for as long as its process
 * lives and reaches the database. PostgreSQL releases the lock when the session ends for any reason. The same session
 * receives notifications about calls.
 */
import { randomBytes } from 'node:crypto';
import type { Notification, Pool, PoolClient } from 'pg';

type OnMessage = (message: string) => void;

const RECONNECT_MS = 200;
const RECONNECT_AT_MOST_MS = 5000;
const COMPLAIN_EVERY_MS = 60_000;
const LOST = 'The session that shows this instance as alive was lost.';

/** A random number for an instance, unique in practice. */
export const newInstance = (): string => (randomBytes(8).readBigUInt64BE() >> 1n).toString();

/** The channel on which an instance listens. */
export const channelOf = (instance: string): string => `mrtr_linear_${instance}`;

/** The session of this process. A lost session is replaced; meanwhile other instances may take over its calls. */
export class Presence {
  readonly #pool: Pool;
  readonly #report: (error: Error) => void;
  readonly #held = new Map<string, OnMessage>();
  // Only one session at a time: a second would wait in vain for the locks of the first.
  #connecting: Promise<void> | undefined;
  #client: PoolClient | undefined;
  /** The locks of the session, each taken once: a lock that is taken twice has to be released twice. */
  readonly #taken = new Map<string, Promise<void>>();
  /** The statements on the session, one after the other. */
  #said: Promise<unknown> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #wait = RECONNECT_MS;
  #complainedAt: number | undefined;
  #closed = false;

  constructor(pool: Pool, report: (error: Error) => void) {
    this.#pool = pool;
    this.#report = report;
  }

  /** Shows `instance` as alive, and listens for its notifications. */
  async hold(instance: string, onMessage: OnMessage): Promise<void> {
    this.#held.set(instance, onMessage);
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
    await this.#say(this.#client, `UNLISTEN ${channelOf(instance)}`);
    await this.#say(this.#client, `SELECT pg_advisory_unlock(${instance})`);
  }

  /** Ends the session. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
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
      this.#held.get(channel.slice(channelOf('').length))?.(payload ?? '');
    });
    if (this.#closed) return client.release(true);
    this.#client = client;
    this.#taken.clear();
    this.#said = Promise.resolve();
    try {
      for (const instance of this.#held.keys()) await this.#take(instance);
      this.#wait = RECONNECT_MS;
      this.#complainedAt = undefined;
    } catch (error) {
      onLoss(error as Error);
      throw error;
    }
  }

  #take(instance: string): Promise<void> {
    if (!this.#client) return Promise.reject(new Error(LOST));
    const taken = this.#taken.get(instance) ?? this.#takeOn(this.#client, instance);
    this.#taken.set(instance, taken);
    return taken;
  }

  async #takeOn(client: PoolClient, instance: string): Promise<void> {
    await this.#say(client, `LISTEN ${channelOf(instance)}`);
    await this.#say(client, `SELECT pg_advisory_lock(${instance})`);
  }

  #say(client: PoolClient, text: string): Promise<unknown> {
    const said = this.#said.then(() => client.query(text));
    this.#said = said.catch(() => {});
    return said;
  }

  #reconnectAfterLoss(client: PoolClient, error?: Error): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.release(true);
    if (this.#closed) return;
    this.#complain(new Error(LOST, { cause: error }));
    this.#reconnect();
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
