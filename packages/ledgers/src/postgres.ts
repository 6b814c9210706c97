/** `@mrtr/ledgers/postgres`: single-use request state for any number of instances, on PostgreSQL 12 or later. */
import { randomUUID } from 'node:crypto';
import { StoreFull } from '@mrtr/core';
import { ledgerFull, tellOperator } from '@mrtr/core/internal';
import type { LeaseDecision, LeaseRequest, StateLedger } from '@mrtr/core/seal';
import { CLOCK_SKEW_MS } from '@mrtr/core/seal';
import { type LedgerLimits, ledgerLimits } from './limits.ts';
import { addToCounter, counterOf } from './postgres-counters.ts';
import {
  type PostgresStoreOptions,
  type PostgresTable,
  postgresTable,
  type Queryable,
} from './postgres-table.ts';

export { PostgresInteractions } from './postgres-interactions.ts';
export type { PostgresStoreOptions, Queryable } from './postgres-table.ts';

/** The reply to the statement of `lease`. Times are bigints as text, in milliseconds since the epoch. */
interface Seen {
  readonly isFirst: boolean;
  /** Whether the latest sweep of this instance counted as many tokens as the ledger may have. */
  readonly isFull: boolean;
  /** Whether the principal has room for one more token. */
  readonly hasRoom: boolean;
  /** Whether other tokens of the principal were leased meanwhile, so that nobody knows whether there is room. */
  readonly isOvertaken: boolean;
  readonly now: string;
  /** The beginning of the ledger; null if the table does not have it. */
  readonly began: string | null;
  /** Whether `began` includes the clock skew, and the table's row does not yet. */
  readonly isRaised: boolean;
}

interface Entry {
  readonly result: string | null;
  readonly answers: string;
  readonly leased: boolean;
}

const milliseconds = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)::bigint`;

// The row with the ledger's beginning. It is among the entries, so that it is lost together with them. `lease_until` holds
// the time, and `answers` whether it includes the clock skew.
const BEGINNING = '(beginning)';
const RAISED = 'raised';

/**
 * A ledger on PostgreSQL, one row for each presented token. It decides by the database's clock, and deletes rows after
 * their token has expired. After the table was emptied, it rejects the tokens that were issued before.
 *
 * @example
 * import { requestStatePolicy } from '@mrtr/core';
 * import { PostgresLedger } from '@mrtr/ledgers/postgres';
 * import { Pool } from 'pg';
 *
 * const ledger = new PostgresLedger(new Pool({ connectionString: process.env.DATABASE_URL }));
 * await ledger.createTable();
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY], ledger });
 */
export class PostgresLedger implements StateLedger {
  readonly #table: PostgresTable;
  readonly #limits: ReturnType<typeof ledgerLimits>;
  /** The latest beginning that this instance saw, in milliseconds since the epoch. */
  #knownBeginning = 0;

  /** @throws InvalidOption for a `db` without `query`, and for a wrong option. */
  constructor(db: Queryable, options: PostgresStoreOptions<LedgerLimits> = {}) {
    const kind = { name: 'mrtr_ledger', expiry: 'forget_at', value: 'result' };
    this.#table = postgresTable('PostgresLedger', db, options, kind);
    this.#limits = ledgerLimits('PostgresLedger', options.limits);
  }

  /**
   * Creates the table and that of its counters, unless they exist. Writes the ledger's beginning, unless the table has it.
   * The ledger rejects older tokens, so await this before you serve. Several instances may call this at once.
   *
   * @throws the database's error, for example if the role may not create tables.
   */
  async createTable(): Promise<void> {
    await this.#table.create(
      `pseudonym text, answers text NOT NULL, result text, lease text,
       lease_until timestamptz NOT NULL, forget_at timestamptz NOT NULL`,
    );
    await this.#begin();
  }

  /**
   * See {@link StateLedger.lease}.
   *
   * @throws StoreFull when the ledger is full; otherwise the database's error. Either rejects the request before it runs.
   */
  async lease(presented: LeaseRequest): Promise<LeaseDecision> {
    await this.#table.sweep(this.#limits.entries);
    const lease = randomUUID();
    try {
      const seen = await this.#insert(presented, lease);
      if (seen.began === null || seen.isRaised) await this.#begin();
      else this.#knownBeginning = Math.max(this.#knownBeginning, Number(seen.began));
      return seen.isFirst ? { kind: 'first', lease } : await this.#rejection(presented, seen);
    } catch (error) {
      // The ledger may have given the lease, and only the reply was lost. Nobody else knows the lease, so give it back.
      if (!(error instanceof StoreFull)) this.release(presented.id, lease).catch(tellOperator);
      throw error;
    }
  }

  /**
   * Inserts the entry if the token may be leased. One statement checks, inserts, and locks the beginning against a DELETE.
   * Without the lock, an uncommitted DELETE could remove the token's entry and the beginning: this statement would wait
   * for the entry, and still see the beginning. TRUNCATE locks out the whole statement.
   */
  #insert({ id, answers, issuedAt, expiresAt, leaseSeconds, pseudonym, now }: LeaseRequest, lease: string) {
    const { name, isFull } = this.#table;
    const asked = [id, pseudonym ?? null, answers, leaseSeconds, expiresAt, now, CLOCK_SKEW_MS];
    return this.#table.insert<Seen>(
      `WITH beginning AS (
         SELECT lease_until, answers <> '${RAISED}' AND
           $12::bigint BETWEEN 1 AND ${milliseconds('lease_until')} - 1 AS is_raised
         FROM ${name} WHERE id = '${BEGINNING}' FOR KEY SHARE
       ), seen AS (
         SELECT clock.ms AS now, ${milliseconds('lease_until')} + CASE WHEN is_raised THEN $7 ELSE 0 END AS began,
           coalesce(is_raised, false) AS is_raised, ${counterOf(name)} AS counter, entries,
           $2::text IS NULL OR $8 > entries AS has_room
         FROM (SELECT ${milliseconds('clock_timestamp()')} AS ms) AS clock
         CROSS JOIN (SELECT count(*) AS entries FROM ${name} WHERE pseudonym = $2 AND forget_at > now()) AS own
         LEFT JOIN beginning ON true
       ), admitted AS (
         SELECT FROM seen WHERE NOT $9::boolean AND has_room AND now < $5::bigint AND abs($6::bigint - now) <= $7
           AND $11::bigint - greatest(0, $6::bigint - now) >= began
       ), counted AS (
         ${addToCounter(name, '$8', '$2 IS NOT NULL AND EXISTS (SELECT FROM admitted)')}
       ), inserted AS (
         INSERT INTO ${name} (id, pseudonym, answers, lease, lease_until, forget_at)
         SELECT $1, $2, $3, $10, now() + make_interval(secs => $4), to_timestamp(($5::bigint + $7) / 1000.0)
         FROM admitted WHERE $2 IS NULL OR EXISTS (SELECT FROM counted)
         ON CONFLICT (id) DO NOTHING RETURNING id)
       SELECT EXISTS (SELECT FROM inserted) AS "isFirst", $9::boolean AS "isFull", has_room AS "hasRoom",
         $2 IS NOT NULL AND EXISTS (SELECT FROM admitted) AND NOT EXISTS (SELECT FROM counted) AS "isOvertaken",
         now::text, began::text, is_raised AS "isRaised"
       FROM seen`,
      [...asked, this.#limits.ownEntries, isFull, lease, issuedAt, this.#knownBeginning],
    );
  }

  /** The reason why nothing was inserted. */
  async #rejection(
    { id, issuedAt, expiresAt, now: theirs }: LeaseRequest,
    seen: Seen,
  ): Promise<LeaseDecision> {
    const byMs = theirs - Number(seen.now);
    if (Math.abs(byMs) > CLOCK_SKEW_MS) return { kind: 'clock-differs', byMs };
    const { rows } = await this.#table.query(
      `SELECT result, answers, lease_until > now() AS leased FROM ${this.#table.name} WHERE id = $1`,
      [id],
    );
    const entry = rows[0] as Entry | undefined;
    if (entry && entry.result !== null)
      return { kind: 'settled', result: entry.result, answers: entry.answers };
    if (entry) return { kind: entry.leased ? 'in-flight' : 'lost' };
    if (Number(seen.now) >= expiresAt) return { kind: 'expired' };
    if (seen.began === null || issuedAt - Math.max(0, byMs) < Number(seen.began))
      return { kind: 'older-than-ledger' };
    if (seen.isFull || !seen.hasRoom) throw ledgerFull(seen.isFull ? 'all' : 'own');
    // Another request had the entry when this one tried, and has released it since.
    return { kind: 'in-flight' };
  }

  /** See {@link StateLedger.settle}. */
  async settle(id: string, lease: string, result: string): Promise<void> {
    // A recorded result is sealed, so each character is one byte.
    const hasRoom = this.#table.bytes + result.length <= this.#limits.bytes;
    if (hasRoom) this.#table.bytes += result.length;
    // A result over the limit ends the lease: a served token must not be released.
    await this.#table.query(
      `WITH entry AS (
         SELECT id, $3 AND (pseudonym IS NULL OR $4 >= length($2) + (
           SELECT coalesce(sum(octet_length(result)), 0) FROM ${this.#table.name} AS same_principal
           WHERE same_principal.pseudonym = target_row.pseudonym AND forget_at > now())) AS fits
         FROM ${this.#table.name} AS target_row WHERE id = $1)
       UPDATE ${this.#table.name} AS ledger_row
       SET result = CASE WHEN fits THEN $2 END, lease_until = CASE WHEN fits THEN lease_until ELSE now() END,
         lease = CASE WHEN fits THEN lease END
       FROM entry WHERE ledger_row.id = entry.id AND ledger_row.lease = $5 AND ledger_row.result IS NULL`,
      [id, result, hasRoom, this.#limits.ownBytes, lease],
    );
  }

  /** See {@link StateLedger.release}. */
  async release(id: string, lease: string): Promise<void> {
    await this.#table.query(
      `DELETE FROM ${this.#table.name} WHERE id = $1 AND lease = $2 AND result IS NULL`,
      [id, lease],
    );
  }

  /**
   * Writes the ledger's beginning, unless the table has it. An instance that knew an earlier beginning adds the clock skew:
   * a server whose clock is ahead may have issued a token that was used before the entries were lost. It adds the skew
   * once, even if an instance that knew no beginning wrote this one.
   */
  async #begin() {
    const [known, skew] = [this.#knownBeginning, CLOCK_SKEW_MS / 1000];
    await this.#table.query(
      `INSERT INTO ${this.#table.name} AS stored (id, answers, lease_until, forget_at)
       VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3), 'infinity')
       ON CONFLICT (id) DO UPDATE SET answers = '${RAISED}', lease_until = stored.lease_until + make_interval(secs => $4)
       WHERE stored.answers <> '${RAISED}' AND $5::bigint BETWEEN 1 AND ${milliseconds('stored.lease_until')} - 1`,
      [BEGINNING, known > 0 ? RAISED : '', known > 0 ? skew : 0, skew, known],
    );
    const { rows } = await this.#table.query(
      `SELECT ${milliseconds('lease_until')}::text AS began FROM ${this.#table.name} WHERE id = $1`,
      [BEGINNING],
    );
    const [stored] = rows as { began: string }[];
    if (stored) this.#knownBeginning = Math.max(known, Number(stored.began));
  }
}
