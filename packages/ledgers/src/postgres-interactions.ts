/** Pending interactions on PostgreSQL. */
import { StoreFull } from '@mrtr/core';
import {
  anObjectWith,
  aText,
  requireArgument,
  requireOptions,
  wholeNumber,
  withDefaults,
} from '@mrtr/core/internal';
import {
  type InteractionStore,
  interactionsFullMessage,
  type NewInteraction,
  type NewTime,
  requireInteractionFits,
} from '@mrtr/pages/store';
import { INTERACTION_CHECKS, INTERACTION_DEFAULTS, type InteractionCapacity } from './limits.ts';
import { addToCounter, counterOf, createCounters, sweepCounters } from './principal-counters.ts';
import { createOnce, type Queryable, tableName } from './table.ts';

/** The options of a {@link PostgresInteractions}. */
export interface PostgresInteractionsOptions extends InteractionCapacity {
  /** The table, an identifier that needs no quotes. Default `mrtr_interactions`. Instances must share it. */
  readonly table?: string;
  /** How often this instance deletes expired interactions, in seconds. Default 60. */
  readonly sweepSeconds?: number;
}

/** The reply to the statement of `add`. */
interface Added {
  readonly isNew: boolean;
  /** Whether other entries of the principal were added meanwhile, so that nobody knows whether there is room. */
  readonly isOvertaken: boolean;
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
   * Creates the table and that of its counters, unless they exist. Several instances may call this at once.
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
       CREATE INDEX IF NOT EXISTS ${this.#table}_pseudonym ON ${this.#table} (pseudonym, ends_at);
       ${createCounters(this.#table)}`,
    );
  }

  /** See {@link InteractionStore.add}. */
  async add({ id, pseudonym, value, ttlSeconds }: NewInteraction): Promise<boolean> {
    requireInteractionFits(value, this.#options.maxValueBytes);
    await this.#sweep();
    const { maxEntriesPerPrincipal, maxOverPerPrincipal } = this.#options;
    const values = [
      ...[id, pseudonym, value, ttlSeconds, maxEntriesPerPrincipal, maxOverPerPrincipal],
      this.#full,
    ];
    let added: Added;
    do {
      const { rows } = await this.#db.query(
        `WITH seen AS (
           SELECT ${counterOf(this.#table, '$2')} AS counter, count(*) FILTER (WHERE NOT is_over) AS entries,
             count(*) FILTER (WHERE is_over) AS over
           FROM ${this.#table} WHERE pseudonym = $2 AND ends_at > clock_timestamp()
         ), counted AS (
           ${addToCounter(this.#table, '$2', '$5', 'NOT $7 AND entries < $5 AND over < $6')}
         ), inserted AS (
           INSERT INTO ${this.#table} AS old (id, pseudonym, value, ends_at)
           SELECT $1, $2, $3, clock_timestamp() + make_interval(secs => $4) FROM counted
           ON CONFLICT (id) DO UPDATE SET pseudonym = $2, value = $3, ends_at = excluded.ends_at, is_over = false
             WHERE old.ends_at <= clock_timestamp()
           RETURNING id)
         SELECT EXISTS (SELECT FROM inserted) AS "isNew", NOT $7 AND entries < $5 AND over < $6 AND
           NOT EXISTS (SELECT FROM counted) AS "isOvertaken"
         FROM seen`,
        values,
      );
      added = rows[0] as Added;
    } while (added.isOvertaken);
    if (added.isNew) return true;
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
    await this.#db.query(sweepCounters(this.#table));
    const { rows } = await this.#db.query(
      `SELECT count(*) >= $1 AS full FROM (SELECT 1 FROM ${this.#table} LIMIT $1) AS entries`,
      [this.#options.maxEntries],
    );
    this.#full = (rows[0] as { readonly full: boolean }).full;
  }
}
