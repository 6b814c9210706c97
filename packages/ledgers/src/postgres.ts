/** `@mrtr/ledgers/postgres`: single-use request state for any number of instances, on PostgreSQL 12 or later. */
import { type Claim, type Presented, type StateLedger, StoreFull } from '@mrtr/core';
import { CLOCK_SKEW_MS, ledgerFull } from '@mrtr/core/seal';
import { requireWholeNumbers } from '@mrtr/core/shape';
import { createOnce, type Queryable, tableName } from './table.ts';

export {
  PostgresInteractions,
  type PostgresInteractionsOptions,
} from './postgres-interactions.ts';
export type { Queryable } from './table.ts';

/** The options of a {@link PostgresLedger}. */
export interface PostgresLedgerOptions {
  /**
   * The table, an identifier that needs no quotes. Default `mrtr_ledger`. Servers that share keys and audience must
   * share the table.
   */
  readonly table?: string;
  /** How often this instance deletes expired entries, in seconds. Default 60. */
  readonly sweepSeconds?: number;
  /** Tokens remembered at once, counted at each sweep. Default 1 000 000. */
  readonly maxEntries?: number;
  /** The same, of one principal, counted for each new token. Default 1000. Anonymous callers share `maxEntries`. */
  readonly maxEntriesPerPrincipal?: number;
  /**
   * Bytes of all recorded results: counted at each sweep, plus the results that this instance records until the next.
   * Default 256 MiB. A result without room is not kept: its token counts as lost.
   */
  readonly maxBytes?: number;
  /** The same, of one principal, counted at each result. Default 4 MiB. Anonymous callers share `maxBytes`. */
  readonly maxBytesPerPrincipal?: number;
}

interface Row {
  readonly found: boolean;
  readonly result: string | null;
  readonly answers: string | null;
  readonly leased: boolean | null;
  /** The database's clock, in milliseconds since the epoch, as text: it is a bigint. */
  readonly now: string;
}

const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * A ledger on PostgreSQL: one row for each presented token. It decides by the database's clock. Rows are deleted after
 * their token has expired.
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
  readonly #db: Queryable;
  readonly #table: string;
  readonly #sweepMs: number;
  readonly #maxEntries: number;
  readonly #maxOwn: number;
  readonly #maxBytes: number;
  readonly #maxOwnBytes: number;
  #swept = 0;
  #full = false;
  #bytes = 0;

  /** @throws InvalidPolicy when `table` needs quotes (it becomes part of the statements), and for a wrong limit. */
  constructor(db: Queryable, options: PostgresLedgerOptions = {}) {
    const { table = 'mrtr_ledger', sweepSeconds = 60 } = options;
    const { maxEntries = 1_000_000, maxEntriesPerPrincipal = 1000 } = options;
    const { maxBytes = 268_435_456, maxBytesPerPrincipal = 4_194_304 } = options;
    requireWholeNumbers('PostgresLedger', {
      maxEntries,
      maxEntriesPerPrincipal,
      maxBytes,
      maxBytesPerPrincipal,
    });
    this.#maxEntries = maxEntries;
    this.#maxOwn = maxEntriesPerPrincipal;
    this.#maxBytes = maxBytes;
    this.#maxOwnBytes = maxBytesPerPrincipal;
    this.#db = db;
    this.#table = tableName('PostgresLedger', table);
    this.#sweepMs = sweepSeconds * 1000;
  }

  /**
   * Creates the table, unless it exists. Several instances may call this at once.
   *
   * @throws the database's error, when the role may not create tables.
   */
  createTable(): Promise<void> {
    return createOnce(
      this.#db,
      `CREATE TABLE IF NOT EXISTS ${this.#table} (
         id text PRIMARY KEY, principal text, answers text NOT NULL, result text,
         lease_until timestamptz NOT NULL, forget_at timestamptz NOT NULL);
       CREATE INDEX IF NOT EXISTS ${this.#table}_expiry ON ${this.#table} (forget_at);
       CREATE INDEX IF NOT EXISTS ${this.#table}_principal ON ${this.#table} (principal, forget_at)`,
    );
  }

  /**
   * See {@link StateLedger.claim}.
   *
   * @throws StoreFull when there is no room; otherwise the database's error. Then the request is refused, and does not
   * run.
   */
  async claim({ id, answers, expiresAt, leaseSeconds, principal, now }: Presented): Promise<Claim> {
    await this.#sweep();
    const { rows } = await this.#db.query(
      `WITH clock AS (SELECT ${NOW_MS} AS ms), inserted AS (
         INSERT INTO ${this.#table} (id, principal, answers, lease_until, forget_at)
         SELECT $1, $2, $3, now() + make_interval(secs => $4), to_timestamp(($5::bigint + $7) / 1000.0) FROM clock
         WHERE NOT $9 AND ms < $5::bigint AND abs($6::bigint - ms) <= $7
           AND ($2::text IS NULL OR $8 > (
             SELECT count(*) FROM ${this.#table} WHERE principal = $2 AND forget_at > now()))
         ON CONFLICT (id) DO NOTHING RETURNING id)
       SELECT id FROM inserted`,
      [id, principal ?? null, answers, leaseSeconds, expiresAt, now, CLOCK_SKEW_MS, this.#maxOwn, this.#full],
    );
    if (rows.length > 0) return { kind: 'first' };
    return this.#decided(id, expiresAt, now);
  }

  /** Why nothing was inserted. */
  async #decided(id: string, expiresAt: number, theirs: number): Promise<Claim> {
    const { rows } = await this.#db.query(
      `SELECT entry.id IS NOT NULL AS found, result, answers, lease_until > now() AS leased, clock.ms::text AS now
       FROM (SELECT ${NOW_MS} AS ms) AS clock LEFT JOIN ${this.#table} AS entry ON entry.id = $1`,
      [id],
    );
    const row = rows[0] as Row;
    const now = Number(row.now);
    if (Math.abs(theirs - now) > CLOCK_SKEW_MS) return { kind: 'clock-differs', byMs: theirs - now };
    if (row.found && row.result !== null) {
      return { kind: 'settled', result: row.result, answers: row.answers ?? '' };
    }
    if (row.found) return { kind: row.leased ? 'in-flight' : 'lost' };
    if (now >= expiresAt) return { kind: 'expired' };
    throw new StoreFull(ledgerFull(this.#full ? 'all' : 'own'));
  }

  /** See {@link StateLedger.settle}. */
  async settle(id: string, result: string): Promise<void> {
    // A recorded result is sealed, so each character is one byte.
    const hasRoom = this.#bytes + result.length <= this.#maxBytes;
    if (hasRoom) this.#bytes += result.length;
    await this.#db.query(
      `WITH entry AS (
         SELECT id, $3 AND (principal IS NULL OR $4 >= length($2) + (
           SELECT coalesce(sum(octet_length(result)), 0) FROM ${this.#table} AS own
           WHERE own.principal = claimed.principal AND forget_at > now())) AS fits
         FROM ${this.#table} AS claimed WHERE id = $1)
       UPDATE ${this.#table} AS settled
       SET result = CASE WHEN fits THEN $2 END, lease_until = CASE WHEN fits THEN lease_until ELSE now() END
       FROM entry WHERE settled.id = entry.id AND settled.result IS NULL`,
      [id, result, hasRoom, this.#maxOwnBytes],
    );
  }

  async #sweep(): Promise<void> {
    const now = Date.now();
    if (now - this.#swept < this.#sweepMs) return;
    this.#swept = now;
    await this.#db.query(`DELETE FROM ${this.#table} WHERE forget_at < now()`);
    const { rows } = await this.#db.query(
      `SELECT count(*) >= $1 AS full, coalesce(sum(octet_length(result)), 0)::text AS bytes
       FROM (SELECT result FROM ${this.#table} LIMIT $1) AS entries`,
      [this.#maxEntries],
    );
    const { full, bytes } = rows[0] as { full: boolean; bytes: string };
    this.#full = full;
    this.#bytes = Number(bytes);
  }
}
