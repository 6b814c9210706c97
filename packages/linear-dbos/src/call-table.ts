/** The table of calls: the state of each call, its owner, and the next result for its client. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Locks } from './locks.ts';
import { channelOf } from './presence.ts';

/** The current state of a call. */
export interface CallRow {
  /** The store that runs the call, or ran it last. */
  readonly instance: string;
  /** Whether that store has lost its session. */
  readonly dead: boolean;
  readonly version: string;
  /** How many turns have ended. */
  readonly turn: number;
  readonly done: boolean;
  readonly expired: boolean;
  /** The sealed key that seals all other values of the call; see `callKeyOf`. */
  readonly key: Buffer;
  readonly head: Buffer;
  /** The latest turn's record. */
  readonly body: Buffer | null;
}

/** The values of a new call. */
export interface NewCall {
  readonly id: string;
  readonly instance: string;
  readonly version: string;
  readonly pseudonym: string | undefined;
  /** A keyed digest of the method and the tool's name. */
  readonly target: string;
  readonly key: Buffer;
  readonly head: Buffer;
  readonly ttlSeconds: number;
  /** The limits of this principal's open calls, this one included: their number, and the size of their heads. */
  readonly ofPrincipal: { readonly calls: number; readonly bytes: number };
}

/** The end of a turn. */
export interface TurnEnd {
  readonly turn: number;
  readonly body: Buffer;
  /** How long the call is kept from now on, in seconds. */
  readonly keepSeconds: number;
}

/** The end of a turn, as the owner of the call publishes it. */
export interface PublishedTurn extends TurnEnd {
  readonly done: boolean;
  readonly key: Buffer;
  /** The other instance whose request waits for the turn, if any. */
  readonly waiter?: string | undefined;
}

/** Statements that create the table in `schema`, which exists. */
export const tableOfCalls = (schema: string) =>
  `CREATE TABLE IF NOT EXISTS ${schema}.mrtr_calls (
     id text PRIMARY KEY, instance bigint NOT NULL, version text NOT NULL, pseudonym text, target text,
     turn int NOT NULL DEFAULT 0, done boolean NOT NULL DEFAULT false,
     key bytea NOT NULL, head bytea NOT NULL, body bytea, expires_at timestamptz NOT NULL);
   CREATE INDEX IF NOT EXISTS mrtr_calls_expiry ON ${schema}.mrtr_calls (expires_at);
   CREATE INDEX IF NOT EXISTS mrtr_calls_open ON ${schema}.mrtr_calls (pseudonym) WHERE NOT done`;

/** The owner of a released call. No instance has this number. */
export const NOBODY = '0';

// The lock is shared, so two instances that check at once do not mistake each other for the owner. It ends with the
// statement.
const DEAD = 'pg_try_advisory_xact_lock_shared(instance)';

/**
 * All times are the database's. A statement whose connection was lost is sent again, so it may run twice. Sealed bodies
 * are never equal, so an equal body shows that the turn is already stored.
 */
export function callTable(pool: Pool, schema: string, locks: Locks) {
  const table = `${schema}.mrtr_calls`;
  const query = async <Row>(text: string, values: unknown[]): Promise<Row[]> =>
    (await retryOnLoss(() => pool.query(text, values))).rows;
  const changes = async (text: string, values: unknown[]) => (await query(text, values)).length === 1;
  const idsOf = async (text: string, values: unknown[]) =>
    (await query<{ readonly id: string }>(text, values)).map(({ id }) => id);

  /** Adds a call, or returns the limit that its principal has reached. */
  async function add(call: NewCall): Promise<'calls' | 'bytes' | undefined> {
    const { id, instance, version, pseudonym, target, key, head, ttlSeconds, ofPrincipal } = call;
    const text = `WITH own AS (
         SELECT count(*) < $7 AS has_place, coalesce(sum(octet_length(head)), 0) + octet_length($5::bytea) <= $9 AS has_room
         FROM ${table} WHERE pseudonym = $4 AND NOT done AND id <> $1),
       added AS (
         INSERT INTO ${table} (id, instance, version, pseudonym, head, expires_at, key, target)
         SELECT $1, $2::bigint, $3, $4::text, $5::bytea, now() + make_interval(secs => $6), $8, $10 FROM own
         WHERE $4::text IS NULL OR has_place AND has_room
         ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING id)
       SELECT has_place, id IS NOT NULL AS added FROM own LEFT JOIN added ON true`;
    const { bytes, calls } = ofPrincipal;
    const values = [id, instance, version, pseudonym, head, ttlSeconds, calls, key, bytes, target];
    type Row = { readonly has_place: boolean; readonly added: boolean };
    const insert = async () =>
      pseudonym === undefined
        ? pool.query<Row>(text, values)
        : locks.withPseudonymLock(pseudonym, (client) => client.query<Row>(text, values));
    const [row] = (await retryOnLoss(insert)).rows;
    if (row?.added) return undefined;
    return row?.has_place ? 'bytes' : 'calls';
  }

  async function read(id: string): Promise<CallRow | undefined> {
    const [row] = await query<CallRow>(
      `SELECT instance, ${DEAD} AS dead, version, turn, done, expires_at <= now() AS expired, key, head, body
       FROM ${table} WHERE id = $1`,
      [id],
    );
    return row;
  }

  /** Makes `to` the owner of the call, unless its owner is alive again. If several instances try at once, one succeeds. */
  async function takeOver(id: string, from: string, to: string) {
    return changes(
      `UPDATE ${table} SET instance = $3::bigint
       WHERE id = $1 AND (instance = $3::bigint OR instance = $2::bigint AND ${DEAD}) AND NOT done RETURNING id`,
      [id, from, to],
    );
  }

  /** Releases calls of `instance` that do not run: any instance may take them over at once. */
  async function release(ids: readonly string[], instance: string) {
    if (ids.length === 0) return;
    await query(
      `UPDATE ${table} SET instance = ${NOBODY} WHERE id = ANY($1) AND instance = $2::bigint AND NOT done`,
      [ids, instance],
    );
  }

  /** Ends a turn, for the call's owner. Returns false if another instance owns the call, or the turn had ended. */
  async function publish(id: string, instance: string, published: PublishedTurn) {
    const { turn, done, body, key, keepSeconds, waiter } = published;
    return changes(
      `WITH published AS (
         UPDATE ${table}
         SET turn = $3, done = $4, body = $5, expires_at = now() + make_interval(secs => $6), key = $8
         WHERE id = $1 AND instance = $2::bigint AND (turn = $3 - 1 AND NOT done OR body = $5) RETURNING id)
       SELECT CASE WHEN $7::text IS NOT NULL THEN pg_notify($7, 'turn ' || id)::text END FROM published`,
      [id, instance, turn, done, body, keepSeconds, waiter === undefined ? null : channelOf(waiter), key],
    );
  }

  /** Ends a call in its open turn, from any instance, and notifies its owner. Returns false if the turn had ended. */
  async function end(id: string, { turn, body, keepSeconds }: TurnEnd) {
    return changes(
      `WITH ended AS (
         UPDATE ${table} SET turn = $2, done = true, body = $3, expires_at = now() + make_interval(secs => $4)
         WHERE id = $1 AND (turn = $2 - 1 AND NOT done OR body = $3) RETURNING id, instance)
       SELECT pg_notify('${channelOf('')}' || instance, 'end ' || id) FROM ended`,
      [id, turn, body, keepSeconds],
    );
  }

  /** Finds at most `limit` calls to delete: expired ones that have ended, or whose owner is dead. */
  async function findExpired(limit: number): Promise<string[]> {
    return idsOf(`SELECT id FROM ${table} WHERE expires_at <= now() AND (done OR ${DEAD}) LIMIT $1`, [limit]);
  }

  async function remove(ids: readonly string[]) {
    await query(`DELETE FROM ${table} WHERE id = ANY($1)`, [ids]);
  }

  /** Finds the dead ones among `instances`. */
  async function findDead(instances: readonly string[]): Promise<string[]> {
    return idsOf(`SELECT instance AS id FROM unnest($1::bigint[]) AS instance WHERE ${DEAD}`, [instances]);
  }

  return { add, read, takeOver, release, publish, end, findExpired, remove, findDead };
}

const ATTEMPTS = 6;
const FIRST_WAIT_MS = 50;
// PostgreSQL's codes (it shuts down, starts, ended the session, or the connection failed), and the sockets' codes.
const LOST = /^(?:08|57P0[123])|^E(?:CONN|PIPE|TIMEDOUT|HOSTUNREACH|AI_AGAIN)/;

// The errors of `pg` about a lost connection have no code.
const UNUSABLE = /^(?:Connection terminated|Client has encountered a connection error)/;

/** Repeats `work` while connections are lost, for at most 1.5 s. */
async function retryOnLoss<Result>(work: () => Promise<Result>) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isLoss(error)) throw error;
      await delay(FIRST_WAIT_MS * 2 ** (attempt - 1));
    }
  }
}

const isLoss = (error: unknown) => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return LOST.test(String(code ?? '')) || UNUSABLE.test(String(message ?? ''));
};
