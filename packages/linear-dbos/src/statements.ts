/** Statements that are said again when the connection they were said on is lost. Each must bear being run twice. */
import type { Pool, QueryResultRow } from 'pg';

const ATTEMPTS = 6;
const FIRST_WAIT_MS = 50;
// Of PostgreSQL: it shuts down, starts, or ends this session, or the connection failed; and what sockets report.
const LOST = /^(?:08|57P0[123])|^E(?:CONN|PIPE|TIMEDOUT|HOSTUNREACH|AI_AGAIN)/;

// Of `pg`, whose errors of a connection that is no more have no code.
const UNUSABLE = /^(?:Connection terminated|Client has encountered a connection error)/;

/** Runs one statement, for as long as 1.5 s of lost connections. */
export const said = <Row extends QueryResultRow>(pool: Pool, text: string, values: unknown[]) =>
  again(async () => (await pool.query<Row>(text, values)).rows);

/** The same of a statement that sees whatever another one under this lock has changed, and runs beside none of them. */
export const saidAlone = <Row extends QueryResultRow>(
  pool: Pool,
  lock: string,
  text: string,
  values: unknown[],
) =>
  again(async () => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      // A statement of its own: what the next one sees is settled when that begins.
      await client.query('SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))', ['mrtr-linear', lock]);
      const { rows } = await client.query<Row>(text, values);
      await client.query('COMMIT');
      client.release();
      return rows;
    } catch (error) {
      client.release(true);
      throw error;
    }
  });

async function again<Result>(attempted: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attempted();
    } catch (error) {
      if (attempt === ATTEMPTS || !isLoss(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS * 2 ** (attempt - 1)));
    }
  }
}

const isLoss = (error: unknown): boolean => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return LOST.test(String(code ?? '')) || UNUSABLE.test(String(message ?? ''));
};
