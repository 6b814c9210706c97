/** `@mrtr/ledger-postgres`: single-use request state for any number of instances, on PostgreSQL 12 or later. */
import type { Claim, StateLedger } from '@mrtr/core';

/** What is used of a `pg` pool (or of PGlite, which has the same method). */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** What a {@link PostgresLedger} takes. */
export interface PostgresLedgerOptions {
  /** The table, an unquoted identifier. Default `mrtr_ledger`. Servers that share keys and audience must share it. */
  readonly table?: string;
  /** How often this instance deletes what has expired, in seconds. Default 60. */
  readonly sweepSeconds?: number;
}

interface Row {
  readonly result: string | null;
  readonly leased: boolean;
}

/**
 * A ledger on PostgreSQL: one row per presented token, by the database's clock, deleted after it has expired.
 *
 * @example
 * const ledger = new PostgresLedger(new Pool({ connectionString }));
 * await ledger.createTable();
 */
export class PostgresLedger implements StateLedger {
  readonly #db: Queryable;
  readonly #table: string;
  readonly #sweepMs: number;
  #swept = 0;

  /** @throws TypeError when `table` is no plain identifier: it becomes part of the statements. */
  constructor(db: Queryable, { table = 'mrtr_ledger', sweepSeconds = 60 }: PostgresLedgerOptions = {}) {
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(table)) throw new TypeError(`'${table}' is no plain table name.`);
    this.#db = db;
    this.#table = table;
    this.#sweepMs = sweepSeconds * 1000;
  }

  /** Creates the table, unless it is there. Several instances may do so at once. */
  async createTable(): Promise<void> {
    const columns =
      'id text PRIMARY KEY, lease_until timestamptz NOT NULL, expires_at timestamptz NOT NULL, result text';
    // One after the other: "if not exists" alone lets two creations that begin at once collide in the catalogue.
    await this.#db.query(
      `DO $$ BEGIN
         PERFORM pg_advisory_xact_lock(hashtext('${this.#table}'));
         CREATE TABLE IF NOT EXISTS ${this.#table} (${columns});
         CREATE INDEX IF NOT EXISTS ${this.#table}_expiry ON ${this.#table} (expires_at);
       END $$`,
    );
  }

  async claim(id: string, expiresAt: number, leaseSeconds: number): Promise<Claim> {
    await this.#sweep();
    const inserted = await this.#db.query(
      `INSERT INTO ${this.#table} (id, lease_until, expires_at)
       VALUES ($1, now() + make_interval(secs => $2), to_timestamp($3)) ON CONFLICT (id) DO NOTHING RETURNING id`,
      [id, leaseSeconds, expiresAt],
    );
    if (inserted.rows.length > 0) return { kind: 'first' };
    const { rows } = await this.#db.query(
      `SELECT result, lease_until > now() AS leased FROM ${this.#table} WHERE id = $1`,
      [id],
    );
    const row = rows[0] as Row | undefined;
    // Deleted between the two statements: it has expired, and what has expired is not served.
    if (!row) return { kind: 'lost' };
    if (row.result !== null) return { kind: 'settled', result: row.result };
    return { kind: row.leased ? 'in-flight' : 'lost' };
  }

  async settle(id: string, result: string): Promise<void> {
    await this.#db.query(`UPDATE ${this.#table} SET result = $2 WHERE id = $1`, [id, result]);
  }

  async #sweep(): Promise<void> {
    const now = Date.now();
    if (now - this.#swept < this.#sweepMs) return;
    this.#swept = now;
    await this.#db.query(`DELETE FROM ${this.#table} WHERE expires_at < now()`);
  }
}
