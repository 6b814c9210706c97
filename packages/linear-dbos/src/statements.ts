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

/** Does something again for as long as connections are lost, 1.5 s at most. */
export async function again<Result>(attempted: () => Promise<Result>): Promise<Result> {
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
