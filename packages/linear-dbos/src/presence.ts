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
import { waitAtMost } from '@mrtr/core/internal';
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
export const newInstance = () => (randomBytes(8).readBigUInt64BE() >> 1n).toString();

/** The channel on which an instance listens. */
export const channelOf = (instance: string) => `mrtr_linear_${instance}`;

/**
 * This process's session. Replaces a lost session; meanwhile other instances may take over its calls.
 *
 * @param takeOverMs how long other instances wait before they take over a call whose turn runs.
 */
export function presenceOn(pool: Pool, takeOverMs: number, report: (error: unknown) => void) {
  const held = new Map<string, Listener>();
  // One session at a time: a second would wait in vain for the locks of the first.
  let connecting: Promise<void> | undefined;
  let current: PoolClient | undefined;
  /** The session's locks. Takes each once: PostgreSQL counts, and would want it released as often. */
  const locks = new Map<string, Promise<void>>();
  /** Runs the session's statements one at a time. */
  let lastSent: Promise<unknown> = Promise.resolve();
  let retry: NodeJS.Timeout | undefined;
  let wait = RECONNECT_MS;
  let complainedAt: number | undefined;
  let closed = false;
  let losses = 0;
  /** The time at which the latest answered statement was sent. The session held its locks then. */
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let pings: NodeJS.Timeout | undefined;
  let abandonTimer: NodeJS.Timeout | undefined;
  /** Whether a session holds the locks. Emits `held` when it becomes true. */
  let isHeld = false;
  const events = new EventEmitter().setMaxListeners(0);

  /** Shows `instance` as alive, and subscribes to its notifications. */
  async function hold(instance: string, listener: Listener = {}) {
    held.set(instance, listener);
    try {
      await connect();
      await take(instance);
    } catch (error) {
      held.delete(instance);
      throw error;
    }
  }

  /** Shows `instance` as gone. */
  async function drop(instance: string) {
    held.delete(instance);
    locks.delete(instance);
    if (!current) return;
    await send(current, `UNLISTEN ${channelOf(instance)}`);
    await send(current, `SELECT pg_advisory_unlock(${instance})`);
  }

  /**
   * Resolves when the session answered a statement sent within the last half of `takeOverMs`. Until the other half has
   * passed, no other instance takes over.
   *
   * @returns the number of sessions lost so far. After another loss, read the owner of a call again.
   */
  async function ensureHeld() {
    for (;;) {
      while (!isHeld) await once(events, 'held');
      if (performance.now() - confirmedAt < takeOverMs / 2) return losses;
      await ping();
    }
  }

  /** Ends the session. */
  function close() {
    closed = true;
    clearTimeout(retry);
    clearTimeout(abandonTimer);
    clearInterval(pings);
    current?.release(true);
    current = undefined;
  }

  async function connect() {
    if (current) return;
    connecting ??= begin().finally(() => {
      connecting = undefined;
    });
    await connecting;
  }

  async function begin() {
    const client = await pool.connect();
    const onLoss = (error?: unknown) => reconnectAfterLoss(client, error);
    client.on('error', onLoss);
    client.on('end', () => onLoss());
    client.on('notification', ({ channel, payload }: Notification) => {
      held.get(channel.slice(channelOf('').length))?.message?.(payload ?? '');
    });
    if (closed) return client.release(true);
    current = client;
    locks.clear();
    lastSent = Promise.resolve();
    try {
      for (const instance of held.keys()) await take(instance);
      if (current === client) noteHeld();
    } catch (error) {
      onLoss(error);
      throw error;
    }
  }

  function noteHeld() {
    wait = RECONNECT_MS;
    complainedAt = undefined;
    clearTimeout(abandonTimer);
    clearInterval(pings);
    pings = setInterval(() => void ping(), takeOverMs / PINGS);
    pings.unref();
    isHeld = true;
    events.emit('held');
    for (const listener of held.values()) listener.held?.();
  }

  /** Pings the session. If it does not answer in time, it counts as lost. */
  async function ping() {
    const client = current;
    if (!client) return;
    const late = () => {
      throw new Error('The session does not answer.');
    };
    try {
      await waitAtMost(send(client, 'SELECT 1'), takeOverMs / PINGS, late);
    } catch (error) {
      reconnectAfterLoss(client, error);
    }
  }

  function take(instance: string) {
    if (!current) return Promise.reject(new Error(LOST));
    const taken = locks.get(instance) ?? takeOn(current, instance);
    locks.set(instance, taken);
    return taken;
  }

  async function takeOn(client: PoolClient, instance: string) {
    await send(client, `LISTEN ${channelOf(instance)}`);
    await send(client, `SELECT pg_advisory_lock(${instance})`);
  }

  function send(client: PoolClient, text: string) {
    const answer = lastSent.then(async () => {
      const sent = performance.now();
      await client.query(text);
      if (current === client) confirmedAt = sent;
    });
    lastSent = answer.catch(() => {});
    return answer;
  }

  function reconnectAfterLoss(client: PoolClient, cause?: unknown) {
    if (current !== client) return;
    current = undefined;
    clearInterval(pings);
    client.release(true);
    if (closed) return;
    if (isHeld) noteLost();
    complain(new Error(LOST, { cause }));
    reconnect();
  }

  function noteLost() {
    losses++;
    isHeld = false;
    for (const listener of held.values()) listener.lost?.();
    const left = confirmedAt + (takeOverMs * (PINGS - 1)) / PINGS - performance.now();
    const abandon = () => {
      for (const listener of held.values()) listener.abandon?.();
    };
    abandonTimer = setTimeout(abandon, Math.max(0, left));
  }

  /** Reports each loss once, and once a minute while reconnecting fails. */
  function complain(error: unknown) {
    const now = performance.now();
    if (complainedAt !== undefined && now - complainedAt < COMPLAIN_EVERY_MS) return;
    complainedAt = now;
    report(error);
  }

  function reconnect() {
    clearTimeout(retry);
    if (closed) return;
    retry = setTimeout(() => {
      wait = Math.min(2 * wait, RECONNECT_AT_MOST_MS);
      connect().catch((error) => {
        complain(error);
        reconnect();
      });
    }, wait);
  }

  return { hold, drop, ensureHeld, close };
}
