/** Some hundreds of calls through random kills. */
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect, vi } from 'vitest';
import { leftOfCalls } from '../../packages/linear-dbos/src/database.test-support.ts';
import { chaos } from './chaos.test-support.ts';
import { Instance, type Setting } from './instances.test-support.ts';
import { Shop } from './shop.test-support.ts';

const SEED = Number(process.env.MRTR_CHAOS_SEED ?? 20261122);
const CALLS = Number(process.env.MRTR_CHAOS_CALLS ?? 300);
const MINUTES = 60_000;

const { database, test } = await postgresOfTheRun();

test(`every call is completed or refused, and no effect happens twice (${CALLS} calls, MRTR_CHAOS_SEED=${SEED})`, {
  timeout: 5 * MINUTES,
}, async () => {
  const postgres = await database();
  const keys = ['k'.repeat(32)];
  const setting: Setting = {
    postgres,
    keys,
    version: '1',
    maxOpenCallsPerPrincipal: 1000,
    takeOverSeconds: 1,
  };
  const begun = performance.now();
  const tally = await chaos({ setting, shop: new Shop(), calls: CALLS, seed: SEED });
  const seconds = Math.round((performance.now() - begun) / 1000);
  console.info({ ...tally, seconds });
  expect(tally.faults).toEqual([]);
  expect(tally.completed + tally.refused.length).toBe(CALLS);
  expect(tally.completed).toBeGreaterThanOrEqual(0.95 * CALLS);

  // Make all calls expire; no instance is left that runs one.
  await query(postgres, 'UPDATE mrtr_linear.mrtr_calls SET expires_at = now()');
  const sweeper = await Instance.start({ ...setting, sweepSeconds: 1 });
  await vi.waitFor(async () => expect(await leftOfCalls(postgres)).toBe(0), 20_000);
  await sweeper.kill();
});
