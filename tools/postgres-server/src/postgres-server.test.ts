import { expect } from 'vitest';
import { postgresServer, query } from './index.ts';
import { postgresOfTheRun } from './testing.test-support.ts';

const { url: ofTheRun, database, test } = await postgresOfTheRun();

test('a database rejects a wrong password', async () => {
  const url = await database();
  const stranger = Object.assign(new URL(url), { password: 'guessed' });
  // A given server may accept any password.
  if (process.env.MRTR_TEST_POSTGRES === undefined)
    await expect(query(stranger.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
});

test('a given server is used unchanged, and keeps running', async () => {
  const named = await postgresServer(ofTheRun);
  const url = await named.database();
  await named.stop();
  expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});
