/** `pnpm serve option-h --postgres`, on a PostgreSQL that it starts and on a given one. */
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { poster } from '@mrtr/harness';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect, test } from 'vitest';
import { command, listening, METRIC, modern, PLUGGED, SUNNY, TOKYO } from './serve.test-support.ts';

const { database, test: testOnPostgres } = await postgresOfTheRun();

test('serves on a PostgreSQL that it starts itself, without a given key', async () => {
  const client = await modern(new StdioClientTransport({ ...command('h', '--postgres'), ...PLUGGED }));
  expect(await client.callTool(TOKYO)).toMatchObject(SUNNY);
  await client.close();
});

testOnPostgres('another process with the database and the keys resumes a call', async () => {
  const env = { MRTR_POSTGRES: await database(), KEYS: 'k'.repeat(32) };
  const first = await listening('h --postgres --state-key-env KEYS', env);
  const { requestState, ...asked } = await round(first.url, {});
  expect(asked).toMatchObject({ resultType: 'input_required' });
  first.running.child.kill('SIGTERM');
  expect(await first.running.ended).toBe(0);
  const second = await listening('h --postgres --state-key-env KEYS', env);
  const answer = { inputResponses: { units: METRIC }, requestState };
  expect(await round(second.url, answer)).toMatchObject(SUNNY);
  expect(await round(second.url, answer)).toMatchObject(SUNNY);
  second.running.child.kill('SIGTERM');
  expect(await second.running.ended).toBe(0);
  const { host, pathname } = new URL(env.MRTR_POSTGRES);
  expect([first, second].map(({ running }) => running.output.err)).toEqual(
    [first, second].map(
      ({ url }) => `PostgreSQL at ${host}${pathname}.\noption H on PostgreSQL, at ${url}\n`,
    ),
  );
});

/** One round of a call that asks for the units, as a modern client makes it. */
const round = async (url: URL, retry: object) =>
  (await poster(url)('tools/call', { ...TOKYO, ...retry })).result as Record<string, unknown>;
