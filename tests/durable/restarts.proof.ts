/** Restarts while calls are open: of all instances, of PostgreSQL, and of instances with newer code. */
import { type OwnServer, ownServer } from '@mrtr/postgres-server';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Call, RESULT, WHERE_TO } from './call.test-support.ts';
import { Deployment } from './deployment.test-support.ts';
import type { Instance } from './instances.test-support.ts';
import type { Shop } from './shop.test-support.ts';
import type { RoundSummary } from './site.test-support.ts';

// This file has its own server, because a test crashes it. `.ci/with-servers` names the system's programs.
let server: OwnServer;
beforeAll(async () => {
  server = await ownServer({ programs: process.env.MRTR_TEST_POSTGRES_PROGRAMS });
});
afterAll(() => server.stop());

async function deployed() {
  const deployment = new Deployment(await server.database());
  onTestFinished(() => deployment.end());
  return deployment;
}

/** Calls at their first question, at their second, and in the middle of an effect. */
async function underWay(shop: Shop, instance: Instance) {
  const [first, second, computing] = [new Call(shop), new Call(shop), new Call(shop)];
  const asked = new Map<Call, RoundSummary>();
  for (const call of [first, second, computing]) asked.set(call, await call.first(instance));
  asked.set(second, await second.count(instance, asked.get(second) as RoundSummary));
  const charging = computing.order.hold('charge');
  const answered = computing.count(instance, asked.get(computing) as RoundSummary);
  await charging;
  return { first, second, computing, answered, of: (call: Call) => asked.get(call) as RoundSummary };
}

/** Resumes all calls, at `one` and `other`. */
async function finish(calls: Awaited<ReturnType<typeof underWay>>, one: Instance, other: Instance) {
  const { first, second, computing, of } = calls;
  const counted = [first, computing].map(async (call) => {
    const next = await call.eventually(() => call.count(one, of(call)));
    expect(next.asks).toEqual(WHERE_TO);
    return call.eventually(() => call.address(other, next));
  });
  const outcomes = await Promise.all([...counted, second.eventually(() => second.address(one, of(second)))]);
  expect(outcomes).toEqual([RESULT, RESULT, RESULT]);
  for (const call of [first, second, computing]) expect(call.order.done).toEqual(call.whole);
  // Only the interrupted effect was repeated, because nobody knew whether it had happened.
  expect([first, second].map(({ order }) => order.attempts.length)).toEqual([3, 3]);
}

test('calls resume after PostgreSQL crashed and was started again', async () => {
  const { shop, start } = await deployed();
  const [one, other] = await Promise.all([start(), start()]);
  const calls = await underWay(shop, one);
  // This request waits for the end of the effect, at an instance that does not run the call.
  const waiting = calls.computing.count(other, calls.of(calls.computing));
  // The effect ends while the database cannot record it.
  await server.restart(() => calls.computing.order.release());
  await finish(calls, other, one);
  for (const outcome of await Promise.all([calls.answered, waiting]))
    expect(outcome.asks ?? outcome.fails).toEqual(outcome.asks ? WHERE_TO : expect.stringMatching(/again/));
  const said = JSON.stringify([one.errors, other.errors]);
  expect(said).toContain('The session that shows this instance as alive was lost.');
});

test('in a rolling deploy, old calls end on the old code or are rejected by version, and no call runs on both', async () => {
  const { shop, start } = await deployed();
  const old = await start();
  const [drained, left] = [new Call(shop), new Call(shop)];
  const asked = [await drained.first(old), await left.first(old)] as const;
  const next = await start({ version: '2' });

  // While the old instance lives, either instance may receive the answer.
  const second = await drained.count(next, asked[0]);
  expect(second.asks).toEqual(WHERE_TO);
  expect(await drained.address(next, second)).toEqual(RESULT);
  const fresh = new Call(shop);
  const begun = await fresh.first(next);
  expect(begun.asks).toEqual({ count: `How many of ${fresh.item}? (2)` });
  // The old instance forwards the answers of a call of the new code.
  const counted = await fresh.count(old, begun);
  expect(counted.asks).toEqual({ address: 'Where to, for charge #2? (2)' });
  await old.close();

  const rejected = {
    fails:
      "This call began on version '1' of this server, and no instance of that version is left. Version '2' cannot " +
      'resume it. Start the call again.',
  };
  expect(await left.count(next, asked[1])).toEqual(rejected);
  expect(await fresh.address(next, counted)).toEqual(RESULT);
  // After a rollback, the call continues: it was rejected, not lost.
  const again = await start();
  const late = await left.count(again, asked[1]);
  expect(late.asks).toEqual(WHERE_TO);
  expect(await left.address(again, late)).toEqual(RESULT);
  expect([drained, left, fresh].map(({ order }) => [...order.codes])).toEqual([['1'], ['1'], ['2']]);
  expect([drained, left, fresh].flatMap(({ order }) => order.faults(true))).toEqual([]);
});
