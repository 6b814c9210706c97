/** The table of a store on PostgreSQL: how it is made, swept and counted. */
import {
  anObjectWith,
  anyValue,
  aPlainIdentifier,
  requireArgument,
  requireOptions,
} from '@mrtr/core/internal';
import { GONE } from './limits.ts';
import { createCounters, sweepCounters } from './postgres-counters.ts';

/** The part of a `pg` pool that the stores on PostgreSQL use. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** The options of a store on PostgreSQL. */
export interface PostgresStoreOptions<Limits> {
  /**
   * The table, an identifier that needs no quotes. Default `mrtr_ledger`, or `mrtr_interactions`. Servers that share keys
   * and audience must share the table.
   */
  readonly table?: string;
  /** Limits of what the store holds, of all callers and of one principal. */
  readonly limits?: Limits | undefined;
}

/** @internal How the tables of the stores differ. */
interface TableKind {
  /** The default of `table`. */
  readonly name: string;
  /** The column of the time until which a row is kept. */
  readonly expiry: string;
  /** The column of the text that takes room. */
  readonly value: string;
}

const SWEEP_MS = 60_000;

/**
 * @internal Rows with an id, a value, a time until which they are kept, and perhaps a principal, by its pseudonym.
 *
 * @throws InvalidOption for a `db` without `query`, and for a wrong option.
 */
export function postgresTable(
  owner: string,
  db: Queryable,
  options: PostgresStoreOptions<unknown>,
  { name: defaultName, expiry, value }: TableKind,
) {
  requireArgument(owner, 'db', db, anObjectWith('query'));
  // The table's name is inserted into SQL statements.
  requireOptions(owner, options, { table: aPlainIdentifier, limits: anyValue }, GONE);
  const { table: name = defaultName } = options;
  const query: Queryable['query'] = (text, values) => db.query(text, values);
  let swept = 0;
  const table = {
    name,
    query,
    /** Whether the latest sweep of this instance counted as many rows as the table may have. */
    isFull: false,
    /** The bytes of the values that the latest sweep counted. */
    bytes: 0,

    /**
     * Creates the table and that of its counters, unless they exist. Several instances may call this at once.
     *
     * @param columns all columns but the id, as SQL.
     */
    async create(columns: string) {
      const statements = `
        CREATE TABLE IF NOT EXISTS ${name} (id text PRIMARY KEY, ${columns});
        CREATE INDEX IF NOT EXISTS ${name}_expiry ON ${name} (${expiry});
        CREATE INDEX IF NOT EXISTS ${name}_pseudonym ON ${name} (pseudonym, ${expiry});
        ${createCounters(name)}`;
      for (let attempt = 1; ; attempt++) {
        try {
          await query(statements);
          return;
        } catch (error) {
          // Despite "if not exists", two creations at once collide in the catalogue. Do not use an advisory lock: any role
          // that may connect could hold it for ever.
          if (attempt === 5 || !COLLISIONS.includes((error as { code?: unknown }).code)) throw error;
        }
      }
    },

    /** Runs a statement that inserts a row if its principal has room, again until nobody else inserted one meanwhile. */
    async insert<Reply extends { readonly isOvertaken: boolean }>(statement: string, values: unknown[]) {
      for (;;) {
        const [reply] = (await query(statement, values)).rows as [Reply];
        if (!reply.isOvertaken) return reply;
      }
    },

    /** Deletes expired rows and counts the others, once a minute. Rows that are kept for ever do not count. */
    async sweep(limit: number) {
      const now = Date.now();
      if (now - swept < SWEEP_MS) return;
      swept = now;
      await query(`DELETE FROM ${name} WHERE ${expiry} <= now()`);
      await query(sweepCounters(name));
      const { rows } = await query(
        `SELECT count(*) >= $1 AS full, coalesce(sum(octet_length(value)), 0)::text AS bytes
         FROM (SELECT ${value} AS value FROM ${name} WHERE ${expiry} < 'infinity' LIMIT $1) AS entries`,
        [limit],
      );
      const [counted] = rows as [{ readonly full: boolean; readonly bytes: string }];
      table.isFull = counted.full;
      table.bytes = Number(counted.bytes);
    },
  };
  return table;
}

/** @internal */
export type PostgresTable = ReturnType<typeof postgresTable>;

/** unique_violation, duplicate_table, duplicate_object */
const COLLISIONS: readonly unknown[] = ['23505', '42P07', '42710'];
