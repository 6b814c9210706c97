/** Pending interactions on PostgreSQL. */
import { StoreFull } from '@mrtr/core';
import {
  type InteractionLimits,
  type InteractionRow,
  type InteractionStore,
  interactionLimits,
  interactionsFullMessage,
} from '@mrtr/pages/store';
import { INTERACTIONS } from './limits.ts';
import { addToCounter, counterOf } from './postgres-counters.ts';
import {
  type PostgresStoreOptions,
  type PostgresTable,
  postgresTable,
  type Queryable,
} from './postgres-table.ts';

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
  readonly #table: PostgresTable;
  readonly #limits: ReturnType<typeof interactionLimits>;

  /** @throws InvalidOption for a `db` without `query`, and for a wrong option. */
  constructor(db: Queryable, options: PostgresStoreOptions<InteractionLimits> = {}) {
    const kind = { name: 'mrtr_interactions', expiry: 'ends_at', value: 'value' };
    this.#table = postgresTable('PostgresInteractions', db, options, kind);
    this.#limits = interactionLimits('PostgresInteractions', options.limits, INTERACTIONS);
  }

  /**
   * Creates the table and that of its counters, unless they exist. Several instances may call this at once.
   *
   * @throws the database's error, for example if the role may not create tables.
   */
  createTable(): Promise<void> {
    return this.#table.create(
      `pseudonym text NOT NULL, value text NOT NULL, ends_at timestamptz NOT NULL,
       is_over boolean NOT NULL DEFAULT false`,
    );
  }

  /** See {@link InteractionStore.add}. */
  async add({ id, pseudonym, value, ttlSeconds }: InteractionRow): Promise<boolean> {
    const { entries, ownOpen, ownOver } = this.#limits;
    await this.#table.sweep(entries);
    const { name, isFull } = this.#table;
    const added = await this.#table.insert<Added>(
      `WITH seen AS (
         SELECT ${counterOf(name)} AS counter, count(*) FILTER (WHERE NOT is_over) AS entries,
           count(*) FILTER (WHERE is_over) AS over
         FROM ${name} WHERE pseudonym = $2 AND ends_at > clock_timestamp()
       ), counted AS (
         ${addToCounter(name, '$5', 'NOT $7 AND entries < $5 AND over < $6')}
       ), inserted AS (
         INSERT INTO ${name} AS old (id, pseudonym, value, ends_at)
         SELECT $1, $2, $3, clock_timestamp() + make_interval(secs => $4) FROM counted
         ON CONFLICT (id) DO UPDATE SET pseudonym = $2, value = $3, ends_at = excluded.ends_at, is_over = false
           WHERE old.ends_at <= clock_timestamp()
         RETURNING id)
       SELECT EXISTS (SELECT FROM inserted) AS "isNew", NOT $7 AND entries < $5 AND over < $6 AND
         NOT EXISTS (SELECT FROM counted) AS "isOvertaken"
       FROM seen`,
      [id, pseudonym, value, ttlSeconds, ownOpen, ownOver, isFull],
    );
    if (added.isNew) return true;
    if ((await this.find(id)) !== undefined) return false;
    throw new StoreFull(interactionsFullMessage(isFull ? 'all' : 'own'));
  }

  /** See {@link InteractionStore.find}. */
  async find(id: string): Promise<string | undefined> {
    const { rows } = await this.#table.query(
      `SELECT value FROM ${this.#table.name} WHERE id = $1 AND ends_at > clock_timestamp()`,
      [id],
    );
    return (rows[0] as { readonly value: string } | undefined)?.value;
  }

  /** See {@link InteractionStore.replace}. */
  async replace(
    { id, value, ttlSeconds }: InteractionRow,
    before: string,
    isOver: boolean,
  ): Promise<boolean> {
    const { rows } = await this.#table.query(
      `UPDATE ${this.#table.name} SET value = $3, is_over = is_over OR $5,
         ends_at = clock_timestamp() + make_interval(secs => $4)
       WHERE id = $1 AND value = $2 AND ends_at > clock_timestamp() RETURNING id`,
      [id, before, value, ttlSeconds, isOver],
    );
    return rows.length > 0;
  }
}
