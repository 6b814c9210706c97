/** Calls whose store was closed or has died. Each test has its own database. */
import { requestStatePolicy } from '@mrtr/core';
import { withFixedLimits } from '@mrtr/core/internal';
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect, onTestFinished, vi } from 'vitest';
import { LOST } from './call.test-support.ts';
import { ANYBODY, Instance } from './instances.test-support.ts';
import { type Options, opened as openedOn } from './opened.test-support.ts';
import { policyOf, UNASKED } from './site.test-support.ts';

const KEY = 'k'.repeat(32);
// The instances identify their callers by it.
const policy = policyOf([KEY]);

const { database, test } = await postgresOfTheRun();

/** A store on a new database, or on `postgres`, with a site that uses it. */
const opened = async (changes: Partial<Options> = {}) =>
  openedOn({ policy, ...changes, postgres: changes.postgres ?? (await database()) });

test('when one of two stores in a process is closed, the other resumes its calls', async () => {
  const one = await opened();
  const two = await opened({ postgres: one.postgres });
  const first = await one.site.send({});
  const second = await two.answer(first, { count: '3' });
  expect([one.store.parked, two.store.parked]).toEqual([1, 0]);
  await one.store.close();
  expect(await two.answer(second, { address: 'home' })).toEqual({ says: 'reserve #1, charge #2, ship #1' });
  expect([one.shop.of('tea').attempts, two.shop.of('tea').attempts]).toEqual([
    ['reserve', 'charge'],
    ['ship'],
  ]);
  expect(await one.site.send({})).toEqual({
    fails: 'This server is shutting down and takes no new calls of this kind.',
  });
  expect([one.errors, two.errors]).toEqual([[], []]);
});

test('while a key is added, put in front, and the old one removed, calls wait and keep their principal', async () => {
  const [older, newer] = ['o'.repeat(32), 'n'.repeat(32)];
  const withKeys = (...keys: string[]) => requestStatePolicy({ keys, ledger: UNASKED });
  const one = await opened({ policy: withKeys(older, newer) });
  const two = await opened({ policy: withKeys(newer, older), postgres: one.postgres });
  const three = await opened({ policy: withKeys(newer), postgres: one.postgres });
  const [held, moved] = [{ arguments: { item: 'held' } }, { arguments: { item: 'moved' }, principal: 'ada' }];
  const firsts = [await two.site.send(held), await one.site.send(moved)] as const;
  await one.store.close();
  // The pseudonyms under the two keys differ, but the ring can compute both.
  const eve = { ...moved, principal: 'eve' };
  expect(await two.answer(firsts[1], { count: '3' }, eve)).toEqual({
    rejects: 'Invalid or expired requestState',
  });
  const seconds = [
    await two.answer(firsts[0], { count: '3' }, held),
    await two.answer(firsts[1], { count: '3' }, moved),
  ] as const;
  // This call runs on the instance that began it. Another instance, without the old key, sends it the answer.
  const result = { says: expect.stringMatching(/^reserve #1, charge #\d, ship #\d$/) };
  expect(await three.answer(seconds[0], { address: 'home' }, held)).toEqual(result);
  await two.store.close();
  expect(await three.answer(seconds[1], { address: 'home' }, moved)).toEqual(result);
  const attempts = [one, two, three].map(({ shop }) => shop.of('moved').attempts);
  expect(attempts).toEqual([['reserve'], ['charge'], ['ship']]);
  expect([one, two, three].flatMap(({ errors }) => errors)).toEqual([]);
});

test('a store that is closed while calls wait reports no errors afterwards', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const one = await opened();
  const two = await opened({ postgres: one.postgres });
  const first = await one.site.send({});
  await one.store.close();
  // DBOS's old run of the call now waits for the result of the new one.
  expect((await two.answer(first, { count: '3' })).asks).toBeDefined();
  await two.store.close();
  // DBOS polls for the result of a call once a second.
  await vi.advanceTimersByTimeAsync(5000);
  expect([one.errors, two.errors]).toEqual([[], []]);
});

test('a store deletes finished calls, and expired ones of its own and of dead instances', async () => {
  const short = { ttlSeconds: 1, sweepSeconds: 1 };
  const { answer, errors, postgres, site, store } = await opened(short);
  const gone = await Instance.start({ ...short, postgres, version: '1', keys: [KEY] });
  const [orphan, own] = [await gone.send({}), await site.send({})];
  await gone.kill();
  // Nobody can ask for the result of this call, because it has no second round.
  await site.send({ name: 'silent' });
  const left =
    'SELECT (SELECT count(*) FROM mrtr_linear.workflow_status) AS workflows, ' +
    '(SELECT count(*) FROM mrtr_linear.queues) AS queues, * FROM mrtr_linear.mrtr_calls';
  await vi.waitFor(
    async () =>
      expect((await query<{ done: boolean }>(postgres, left)).map(({ done }) => done)).toEqual([true]),
    { timeout: 50_000, interval: 100 },
  );
  expect(store.parked).toBe(0);
  for (const [asked, principal] of [
    [orphan, ANYBODY],
    [own, ''],
  ] as const)
    expect(await answer(asked, { count: '3' }, { principal })).toEqual(LOST);
  expect(await query(postgres, left)).toMatchObject([{ workflows: '1', queues: '1' }]);
  expect(errors).toEqual([]);
});

test('a call that resumes elsewhere keeps the limits of rounds and questions that it began with', async () => {
  const policy = requestStatePolicy({ keys: [KEY], ledger: UNASKED, limits: { rounds: 3 } });
  const strict = withFixedLimits(policy, { questions: 2 });
  const one = await opened({ policy: strict });
  const two = await opened({ postgres: one.postgres });
  const [curious, thorough] = [{ name: 'curious' }, { name: 'thorough' }];
  const [first, many, enough] = [
    await one.site.send(curious),
    await one.site.send(thorough),
    await one.site.send(thorough),
  ];
  await one.store.close();
  const second = await two.answer(first, { count: '3' }, curious);
  expect(second.asks).toEqual({ count: 'How many of tea, for the 2. time?' });
  const third = await two.answer(second, { count: '3' }, curious);
  expect(third.asks).toEqual({ count: 'How many of tea, for the 3. time?' });
  expect(await two.answer(third, { count: '3' }, curious)).toEqual({
    fails: 'This call still needs input after 3 rounds. Start it again.',
  });
  expect(Object.keys((await two.answer(enough, { count: '2' }, thorough)).asks ?? {})).toEqual(['q0', 'q1']);
  expect(await two.answer(many, { count: '3' }, thorough)).toEqual({
    fails: 'The server asks too many questions at once',
  });
  expect(two.store.parked).toBe(1);
});
