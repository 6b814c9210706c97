/** Pending interactions on PostgreSQL. */
import { StoreFull } from '@mrtr/core';
import {
  anObjectWith,
  aText,
  requireArgument,
  requireOptions,
  wholeNumber,
  withDefaults,
} from '@mrtr/core/kit';
import {
  type InteractionStore,
  interactionsFullMessage,
  type NewInteraction,
  type NewTime,
  requireInteractionFits,
} from '@mrtr/pages/store';
import { INTERACTION_CHECKS, INTERACTION_DEFAULTS, type InteractionCapacity } from './limits.ts';
import { createOnce, type Queryable, tableName } from './table.ts';

/** The options of a {@link PostgresInteractions}. */
export interface PostgresInteractionsOptions extends InteractionCapacity {
  /** The table, an identifier that needs no quotes. Default `mrtr_interactions`. Instances must share it. */
  readonly table?: string;
  /** How often this instance deletes expired interactions, in seconds. Default 60. */
  readonly sweepSeconds?: number;
}

/**
 * Pending interactions on PostgreSQL, one row each. They expire by the database's clock.
 *
 * @example
 * const store = new PostgresInteractions(new Pool({ connectionString: process.env.DATABASE_URL }));
 * await store.createTable();
 * const link = pendingInteractions({ policy, store, url, identifyBrowser, start, finish });
 */
export class PostgresInteractions implements InteractionStore {
  readonly #db: Queryable;
  readonly #table: string;
  readonly #options: Required<PostgresInteractionsOptions>;
  #swept = 0;
  #full = false;

  /** @throws InvalidOption for a `db` without `query`, and for a wrong option. */
  constructor(db: Queryable, options: PostgresInteractionsOptions = {}) {
    requireArgument('PostgresInteractions', 'db', db, anObjectWith('query'));
    requireOptions<PostgresInteractionsOptions>('PostgresInteractions', options, {
      table: aText,
      sweepSeconds: wholeNumber(0),
      ...INTERACTION_CHECKS,
    });
    this.#db = db;
    this.#options = withDefaults(options, {
      table: 'mrtr_interactions',
      sweepSeconds: 60,
      ...INTERACTION_DEFAULTS,
    });
    this.#table = tableName('PostgresInteractions', this.#options.table);
  }

  /**
   * Creates the table, unless it exists. Several instances may call this at once.
   *
   * @throws the database's error, for example if the role may not create tables.
   */
  createTable(): Promise<void> {
    return createOnce(
      this.#db,
      `CREATE TABLE IF NOT EXISTS ${this.#table} (
         id text PRIMARY KEY, pseudonym text NOT NULL, value text NOT NULL, ends_at timestamptz NOT NULL,
         is_over boolean NOT NULL DEFAULT false);
       CREATE INDEX IF NOT EXISTS ${this.#table}_expiry ON ${this.#table} (ends_at);
       CREATE INDEX IF NOT EXISTS ${this.#table}_pseudonym ON ${this.#table} (pseudonym, ends_at)`,
    );
  }

  /** See {@link InteractionStore.add}. */
  async add({ id, pseudonym, value, ttlSeconds }: NewInteraction): Promise<boolean> {
    requireInteractionFits(value, this.#options.maxValueBytes);
    await this.#sweep();
    const { maxEntriesPerPrincipal, maxOverPerPrincipal } = this.#options;
    const { rows } = await this.#db.query(
      `INSERT INTO ${this.#table} AS old (id, pseudonym, value, ends_at)
       SELECT $1, $2, $3, clock_timestamp() + make_interval(secs => $4)
       WHERE NOT $7 AND (
         SELECT count(*) FILTER (WHERE NOT is_over) < $5 AND count(*) FILTER (WHERE is_over) < $6
         FROM ${this.#table} WHERE pseudonym = $2 AND ends_at > clock_timestamp())
       ON CONFLICT (id) DO UPDATE SET pseudonym = $2, value = $3, ends_at = excluded.ends_at, is_over = false
         WHERE old.ends_at <= clock_timestamp()
       RETURNING id`,
      [id, pseudonym, value, ttlSeconds, maxEntriesPerPrincipal, maxOverPerPrincipal, this.#full],
    );
    if (rows.length > 0) return true;
    if ((await this.find(id)) !== undefined) return false;
    throw new StoreFull(interactionsFullMessage(this.#full ? 'all' : 'own'));
  }

  /** See {@link InteractionStore.find}. */
  async find(id: string): Promise<string | undefined> {
    const { rows } = await this.#db.query(
      `SELECT value FROM ${this.#table} WHERE id = $1 AND ends_at > clock_timestamp()`,
      [id],
    );
    return (rows[0] as { readonly value: string } | undefined)?.value;
  }

  /** See {@link InteractionStore.replace}. */
  async replace(id: string, before: string, after: string, time?: NewTime): Promise<boolean> {
    requireInteractionFits(after, this.#options.maxValueBytes);
    const { rows } = await this.#db.query(
      `UPDATE ${this.#table} SET value = $3, is_over = is_over OR $5,
         ends_at = coalesce(clock_timestamp() + make_interval(secs => $4::int), ends_at)
       WHERE id = $1 AND value = $2 AND ends_at > clock_timestamp() RETURNING id`,
      [id, before, after, time?.ttlSeconds, time?.isOver ?? false],
    );
    return rows.length > 0;
  }

  async #sweep(): Promise<void> {
    const now = Date.now();
    if (now - this.#swept < this.#options.sweepSeconds * 1000) return;
    this.#swept = now;
    await this.#db.query(`DELETE FROM ${this.#table} WHERE ends_at <= clock_timestamp()`);
    const { rows } = await this.#db.query(
      `SELECT count(*) >= $1 AS full FROM (SELECT 1 FROM ${this.#table} LIMIT $1) AS entries`,
      [this.#options.maxEntries],
    );
    this.#full = (rows[0] as { readonly full: boolean }).full;
  }
}
