import { InvalidOption } from '@mrtr/core';

/** The part of a `pg` pool that the stores on PostgreSQL use. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/**
 * Checks the name of a table, which is inserted into SQL statements.
 *
 * @throws InvalidOption if it needs quotes.
 */
export function tableName(owner: string, table: unknown): string {
  if (typeof table === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(table)) return table;
  throw new InvalidOption(
    `${owner}: table must be an identifier that needs no quotes (a-z, 0-9, _); it is ${quote(table)}.`,
  );
}

/** Does not quote a longer text, which may be a database's URL in the wrong place. */
const quote = (table: unknown): string =>
  typeof table === 'string' && table.length <= 12 ? `'${table}'` : 'something else';

/** Runs `statements` of "create if not exists". Several instances may call this at once. */
export async function createOnce(db: Queryable, statements: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await db.query(statements);
      return;
    } catch (error) {
      // Despite "if not exists", two creations at once collide in the catalogue. Do not use an advisory lock: any role
      // that may connect could hold it for ever.
      if (attempt === 5 || !COLLISIONS.includes(String((error as { code?: unknown }).code))) throw error;
    }
  }
}

/** unique_violation, duplicate_table, duplicate_object */
const COLLISIONS: readonly string[] = ['23505', '42P07', '42710'];
