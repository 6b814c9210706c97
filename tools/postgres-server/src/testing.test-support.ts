/** PostgreSQL in a test file: the server of the whole run (`of-the-run.test-support.ts`), and the file's own databases. */
import { inject, test as plainTest, type TestAPI } from 'vitest';
import { type PostgresServer, postgresServer } from './index.ts';
import type {} from './of-the-run.test-support.ts';

export interface PostgresOfTheRun extends Omit<PostgresServer, 'stop'> {
  /** Vitest's `test`. Skips its tests if PostgreSQL did not start. */
  readonly test: TestAPI;
  /** The reason why PostgreSQL did not start. Undefined if it runs. */
  readonly missing: string | undefined;
}

/**
 * Returns the PostgreSQL of this run: the server of `MRTR_TEST_POSTGRES`, or one that the first call starts. If it does not
 * start, the file's tests are skipped and a skipped test names the reason. In CI the file fails.
 *
 * @example
 * const { database, test } = await postgresOfTheRun();
 * test('a call is parked', async () => { const url = await database(); … });
 */
export async function postgresOfTheRun(): Promise<PostgresOfTheRun> {
  const response = await fetch(inject('postgres'));
  const text = await response.text();
  if (response.ok) {
    const { url, database } = await postgresServer(text);
    return { url, database, test: plainTest, missing: undefined };
  }
  if (process.env.CI) throw new Error(`PostgreSQL did not start: ${text}`);
  plainTest.skip(`these tests need PostgreSQL (SKIPPED: it does not start here: ${text})`, () => {});
  const database = () => Promise.reject(new Error(text));
  return { url: '', database, test: plainTest.skip as TestAPI, missing: text };
}
