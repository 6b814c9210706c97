/**
 * Makes the limit for one principal exact, for all instances that share a table.
 *
 * A statement counts entries as they were when it began, so it misses those of statements that run at the same time. Hence
 * a counter row for each principal: each new entry adds 1 to it, in the same statement. Adding locks the row, and reads it as
 * it is then. So the growth of the counter since the statement began is the number of entries that the count may miss.
 *
 * Only this growth matters, never the counter itself. So entries of an earlier version, which adds nothing, are counted
 * as any others are, and expiry, deletions and broken connections leave nothing to correct.
 *
 * In the statements, `$2` is the pseudonym.
 */

/** The name of the table of counters. PostgreSQL would cut a longer one, perhaps to the name of `table` itself. */
const countersOf = (table: string) => `${table.slice(0, 52)}_principals`;

/** The statement that creates the table of counters. */
export const createCounters = (table: string) =>
  `CREATE TABLE IF NOT EXISTS ${countersOf(table)} (
     pseudonym text PRIMARY KEY, counter bigint NOT NULL, forget_at timestamptz NOT NULL)`;

/** The principal's counter as it was when the statement began. Null if there was none. */
export const counterOf = (table: string) =>
  `(SELECT counter FROM ${countersOf(table)} AS counters WHERE counters.pseudonym = $2)`;

/**
 * Adds 1 to the principal's counter if its entries stay within `limit`, and returns a row then. The CTE `seen` has the
 * columns `counter`, of {@link counterOf}, and `entries`.
 *
 * @param condition whether to add at all, for a row of `seen`.
 */
export const addToCounter = (table: string, limit: string, condition: string) =>
  // A new counter begins above those that were ever deleted. One that was made meanwhile was not seen: its growth is null.
  `INSERT INTO ${countersOf(table)} AS stored (pseudonym, counter, forget_at)
   SELECT $2, txid_current(), now() + interval '1 hour' FROM seen WHERE ${condition}
   ON CONFLICT (pseudonym) DO UPDATE SET counter = stored.counter + 1, forget_at = excluded.forget_at
   WHERE (SELECT seen.entries + stored.counter - seen.counter < ${limit} FROM seen)
   RETURNING pseudonym`;

/** Deletes counters that no statement has used for an hour. */
export const sweepCounters = (table: string) => `DELETE FROM ${countersOf(table)} WHERE forget_at <= now()`;
