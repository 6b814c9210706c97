/** Repeats statements whose connection was lost. Each statement must be safe to run twice. */
import type { Pool, QueryResultRow } from 'pg';

const ATTEMPTS = 6;
const FIRST_WAIT_MS = 50;
// PostgreSQL's codes (it shuts down, starts, ended the session, or the connection failed), and the sockets' codes.
const LOST = /^(?:08|57P0[123])|^E(?:CONN|PIPE|TIMEDOUT|HOSTUNREACH|AI_AGAIN)/;

// The errors of `pg` about a lost connection have no code.
const UNUSABLE = /^(?:Connection terminated|Client has encountered a connection error)/;

/** Runs one statement. Repeats it while connections are lost, for at most 1.5 s. */
export const query = <Row extends QueryResultRow>(pool: Pool, text: string, values: unknown[]) =>
  retryOnLoss(async () => (await pool.query<Row>(text, values)).rows);

/** Repeats `work` while connections are lost, for at most 1.5 s. */
export async function retryOnLoss<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
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
