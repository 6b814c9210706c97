/**
 * Locks that all instances share: rows of our own table. Any role that can connect to PostgreSQL could hold an advisory
 * lock for ever; only roles that may use the table can lock its rows.
 *
 * No statement waits for a lock. It would occupy a connection that other principals need. It would also block the
 * migrations of DBOS, which build indexes concurrently.
 */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient, QueryResult } from 'pg';

const ROWS = 1024;
const LAUNCH = 0;
const LAUNCH_PATIENCE_MS = 60_000;
const PRINCIPAL_PATIENCE_MS = 5000;
const RETRY_MS = 5;
const RETRY_AT_MOST_MS = 50;
/** A process that hangs while it holds a lock loses its session, and so the lock. */
const IDLE_AT_MOST_MS = 600_000;
const CREATIONS = 5;
/** Two instances created the table at once: unique_violation, duplicate_table, duplicate_schema, duplicate_object. */
const COLLISIONS: readonly unknown[] = ['23505', '42P07', '42P06', '42710'];

type Work<Result> = (client: PoolClient) => Promise<Result>;

/** The locks in one schema. */
export type Locks = ReturnType<typeof locksIn>;

/** @param patienceMs how long a call waits for other calls of its principal. */
export function locksIn(pool: Pool, schema: string, patienceMs = PRINCIPAL_PATIENCE_MS) {
  /** The waiters of this process for each row. Only the first one queries the database. */
  const queues = new Map<number, Promise<unknown>>();

  /** Creates the schema and the table unless they exist. Several instances may do so at once. */
  async function create() {
    for (let attempt = 1; ; attempt++) {
      try {
        return await createTable();
      } catch (error) {
        if (attempt === CREATIONS || !COLLISIONS.includes((error as { code?: unknown }).code)) throw error;
      }
    }
  }

  /** Runs `work` while no other instance launches. */
  function withLaunchLock<Result>(work: Work<Result>) {
    return withLock(LAUNCH, LAUNCH_PATIENCE_MS, work);
  }

  /**
   * Runs `work` in a transaction. All instances together run one such transaction per `pseudonym` at a time. It sees the
   * changes of earlier ones.
   */
  async function withPseudonymLock<Result>(pseudonym: string, work: Work<Result>) {
    // Principals that share a row may wait a little for each other.
    const row = 1 + (Number.parseInt(hash('sha256', pseudonym).slice(0, 8), 16) % (ROWS - 1));
    const before = queues.get(row) ?? Promise.resolve();
    const result = before.then(() => withLock(row, patienceMs, work));
    const over = Promise.allSettled([result]);
    queues.set(row, over);
    try {
      return await result;
    } finally {
      if (queues.get(row) === over) queues.delete(row);
    }
  }

  async function createTable() {
    const table = `${schema}.mrtr_locks`;
    const { rows } = await pool.query('SELECT to_regclass($1) IS NOT NULL AS there', [table]);
    if (rows[0].there) return;
    await pool.query(
      `CREATE SCHEMA IF NOT EXISTS ${schema};
       CREATE TABLE ${table} (id int PRIMARY KEY);
       INSERT INTO ${table} SELECT generate_series(0, ${ROWS - 1})`,
    );
  }

  async function withLock<Result>(row: number, mostMs: number, work: Work<Result>) {
    const late = Date.now() + mostMs;
    for (let wait = RETRY_MS; ; wait = Math.min(2 * wait, RETRY_AT_MOST_MS)) {
      const done = await tryWork(row, work);
      if (done) return done.result;
      if (Date.now() > late)
        throw new Error(`Another instance holds lock ${row} for more than ${mostMs} ms.`);
      await delay(wait * (0.5 + Math.random()));
    }
  }

  /** Runs `work` under the lock. Returns undefined if another instance holds it. */
  async function tryWork<Result>(
    row: number,
    work: Work<Result>,
  ): Promise<{ readonly result: Result } | undefined> {
    const client = await pool.connect();
    try {
      // The reply to several statements is a list.
      const replies: unknown = await client.query(
        `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_AT_MOST_MS};
         SELECT FROM ${schema}.mrtr_locks WHERE id = ${row} FOR UPDATE SKIP LOCKED`,
      );
      const isLocked = (replies as QueryResult[]).at(-1)?.rowCount === 1;
      const done = isLocked ? { result: await work(client) } : undefined;
      await client.query('COMMIT');
      client.release();
      return done;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  return { create, withLaunchLock, withPseudonymLock };
}
