/** What the tests look at in a database. */
import { postgresServer, query } from '@mrtr/postgres-server';

export { type PostgresServer, query } from '@mrtr/postgres-server';

/** The server that `MRTR_TEST_POSTGRES` names, or one that is started here. Whoever calls has to stop it. */
export const testServer = () => postgresServer(process.env.MRTR_TEST_POSTGRES);

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
