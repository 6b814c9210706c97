/** A call outlives its process, with two real processes on a real PostgreSQL. `durable.proof.ts` has more. */
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { cut } from '../../packages/linear-dbos/src/database.test-support.ts';
import { Call, LOST, RESULT, WHERE_TO } from './call.test-support.ts';
import { Deployment } from './deployment.test-support.ts';
import type { Instance } from './instances.test-support.ts';
import { Shop } from './shop.test-support.ts';
import type { RoundSummary } from './site.test-support.ts';

/** How many instances hold their lock. */
const lockedBy = async (postgres: string): Promise<number> => {
  const [row] = await query<{ held: string }>(
    postgres,
    `SELECT count(*) AS held FROM pg_locks WHERE locktype = 'advisory' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return Number(row?.held);
};

const { database, test } = await postgresOfTheRun();
const shop = new Shop();
let deployment: Deployment;
let owner: Instance;
let other: Instance;

beforeAll(async () => {
  deployment = new Deployment(await database(), shop);
  // Start both at once on an empty database, so that both create the tables.
  [owner, other] = await Promise.all([deployment.start(), deployment.start()]);
});
afterAll(() => deployment.end());

describe('while its owner lives', () => {
  test('any instance can answer a call', async () => {
    const call = new Call(shop);
    const first = await call.first(owner);
    expect(first.asks).toEqual({ count: `How many of ${call.item}?` });
    const second = await call.count(other, first);
    expect(second.asks).toEqual(WHERE_TO);
    expect([await owner.parked(), await other.parked()]).toEqual([1, 0]);
    expect(await call.address(other, second)).toEqual(RESULT);
    expect([call.order.attempts, call.order.done]).toEqual([['reserve', 'charge', 'ship'], call.whole]);
    expect([owner.errors, other.errors]).toEqual([[], []]);
  });

  test('the same answer sent again gets the same result, and a different one is rejected', async () => {
    const call = new Call(shop);
    const first = await call.first(owner);
    const second = await call.count(owner, first);
    expect(await call.count(other, first, '4')).toEqual(LOST);
    expect((await call.count(other, first)).asks).toEqual(second.asks);
    expect(await call.address(other, second)).toEqual(RESULT);
    expect(await call.address(owner, second)).toEqual(RESULT);
    expect(await call.answer(owner, second, { address: 'elsewhere' })).toEqual(LOST);
    expect(await call.count(owner, first)).toEqual(LOST);
    expect(call.order.attempts).toEqual(['reserve', 'charge', 'ship']);
  });

  test('of two different answers sent at once one counts, and only its sender gets the result', async () => {
    const call = new Call(shop);
    const first = await call.first(owner);
    const both = await Promise.all([call.count(owner, first), call.count(other, first, '4')]);
    const [asked, ...more] = both.filter((outcome) => outcome.asks);
    expect([asked?.asks, more]).toEqual([WHERE_TO, []]);
    expect(both).toContainEqual(LOST);
    expect(await call.address(other, asked as RoundSummary)).toEqual(RESULT);
    expect(call.order.attempts).toEqual(['reserve', 'charge', 'ship']);
  });
});

test('answers that do not fit are counted on any instance, also after the owner was killed', async () => {
  const [first, second] = await Promise.all([deployment.start(), deployment.start()]);
  const [call, interrupted] = [new Call(shop), new Call(shop)];
  const again = { count: expect.stringMatching(/^How many of .*\?\n\nThe form came back empty\. /) };
  const ends = { fails: expect.stringContaining('accepted this form without filling it in') };
  const asked = await call.answer(second, await call.first(first), {});
  expect(asked.asks).toEqual(again);
  expect(await call.answer(second, asked, {})).toEqual(ends);
  const left = await interrupted.answer(first, await interrupted.first(first), {});
  expect(left.asks).toEqual(again);
  await first.kill();
  expect(await interrupted.answer(second, left, {})).toEqual(ends);
});

test('a call whose process was killed resumes in another, and repeats an interrupted effect under the same key', async () => {
  const [thinking, computing] = [new Call(shop), new Call(shop)];
  const asked = await thinking.first(owner);
  const charging = computing.order.hold('charge');
  const answered = computing.count(other, await computing.first(owner));
  await charging;
  await owner.kill();

  const second = await thinking.count(other, asked);
  expect(second.asks).toEqual(WHERE_TO);
  expect(await thinking.address(other, second)).toEqual(RESULT);
  expect([thinking.order.attempts, thinking.order.done]).toEqual([
    ['reserve', 'charge', 'ship'],
    thinking.whole,
  ]);

  expect(await computing.address(other, await answered)).toEqual(RESULT);
  expect([computing.order.attempts, computing.order.done]).toEqual([
    ['reserve', 'charge', 'charge', 'ship'],
    computing.whole,
  ]);
});

test('an owner whose database sessions end while it charges is not overtaken: the charge is made once', async () => {
  const [calm, hasty] = await Promise.all([1, 2].map(() => deployment.start({ takeOverSeconds: 10 })));
  const call = new Call(shop);
  const first = await call.first(calm as Instance);
  const charging = call.order.hold('charge');
  const answered = call.count(calm as Instance, first);
  await charging;
  await cut(deployment.postgres);
  // Sent again, because the client's connection was lost as well.
  const again = call.eventually(() => call.count(hasty as Instance, first));
  await vi.waitFor(async () => expect(await lockedBy(deployment.postgres)).toBeGreaterThan(3), 60_000);
  call.order.release();
  const second = await again;
  expect([second.asks, (await answered).asks]).toEqual([WHERE_TO, WHERE_TO]);
  expect(await call.address(calm as Instance, second)).toEqual(RESULT);
  expect(call.order.attempts).toEqual(['reserve', 'charge', 'ship']);
});
