/** Reads and cuts off a test's database. */
import { query } from '@mrtr/postgres-server';

/** Cuts every connection to a database. */
export const cut = (url: string) =>
  query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );

/** How many rows of calls are left, in our table and those of DBOS. */
export async function leftOfCalls(url: string): Promise<number> {
  const tables = ['mrtr_calls', 'workflow_status', 'operation_outputs', 'notifications', 'workflow_events'];
  const counts = tables.map((table) => `(SELECT count(*) FROM mrtr_linear.${table})`);
  const [row] = await query<{ left: string }>(url, `SELECT ${counts.join(' + ')} AS left`);
  return Number(row?.left);
}

/** Every row of every table of a database, as text. */
export async function everything(url: string): Promise<string> {
  const tables = await query<{ name: string }>(
    url,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await query<{ text: string }>(url, `SELECT t::text AS text FROM ${name} t`);
      return `${name}\n${rows.map(({ text }) => text).join('\n')}`;
    }),
  );
  return texts.join('\n');
}
