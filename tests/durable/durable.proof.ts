/** Calls that outlive their process, on a real PostgreSQL, with instances in separate processes. */
import { PostgresInteractions } from '@mrtr/ledgers/postgres';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from 'vitest';
import { Call, LOST, RESULT, WHERE_TO } from './call.test-support.ts';
import { Deployment } from './deployment.test-support.ts';
import type { Instance } from './instances.test-support.ts';
import { Shop } from './shop.test-support.ts';
import { answering, pageOn, policyOf, type RoundSummary, type Sent } from './site.test-support.ts';

const { database, test } = await postgresOfTheRun();
const shop = new Shop();
let deployment: Deployment;
let owner: Instance;
let other: Instance;
let third: Instance;

/** An instance's reports, without lost sessions: a busy machine may be too slow to answer, and then gets new ones. */
const reportedBy = ({ errors }: Instance) => errors.filter((error) => !error.includes('alive was lost'));

beforeAll(async () => {
  deployment = new Deployment(await database(), shop);
  const { start } = deployment;
  [owner, other, third] = await Promise.all([start(), start(), start()]);
});
afterAll(() => deployment.end());

describe('while its owner lives', () => {
  test.each([
    ['that runs it', () => owner],
    ['that does not', () => other],
  ])('a client that cancels its request at an instance %s ends the call', async (_which, where) => {
    const call = new Call(shop);
    const first = await call.first(owner);
    const cancelling = new AbortController();
    const charging = call.order.hold('charge');
    const sent = { arguments: { item: call.item }, ...answering(first, { count: '3' }) };
    const answered = where().send(sent, cancelling.signal);
    await charging;
    cancelling.abort();
    expect(Object.keys(await answered)).toEqual(['rejects']);
    await vi.waitFor(async () => expect(await call.count(third, first)).toEqual(LOST), 60_000);
    expect(call.order.done).toEqual(call.whole.slice(0, 2));
  });
});

describe('after its owner was killed', () => {
  const raced = new Call(shop);
  const retried = new Call(shop);
  const fickle = new Call(shop, { name: 'fickle' });
  const reworded = new Call(shop, { name: 'reworded' });
  const failing = new Call(shop, { name: 'failing' });
  const asked = new Map<Call, RoundSummary>();
  const careless = new Call(shop);

  const latest = (call: Call) => asked.get(call) as RoundSummary;

  beforeAll(async () => {
    const calls = [raced, retried, fickle, reworded, failing, careless];
    for (const call of calls) asked.set(call, await call.first(owner));
    careless.order.honoursKeys = false;
    const computing = [retried, careless].map(({ order }) => order.hold('charge'));
    for (const call of [retried, careless]) void call.count(owner, latest(call));
    await Promise.all(computing);
    await owner.kill();
  });

  test('a shop that ignores idempotency keys performs the interrupted effect twice, and the test shop notices', async () => {
    const second = await careless.count(other, latest(careless));
    expect((await careless.address(other, second)).says).toMatch(/^reserve #1, charge #3, ship #4$/);
    const [reserve, charge, ship] = careless.whole;
    expect(careless.order.faults(true)).toEqual([`did ${[reserve, charge, charge, ship].join(', ')}`]);
    expect(retried.order.faults(false)).toEqual([]);
  });

  test('a client whose request was lost sends its answer again, and its first answer counts', async () => {
    expect(await retried.count(other, latest(retried), '4')).toEqual(LOST);
    const second = await retried.count(third, latest(retried));
    expect(second.asks).toEqual(WHERE_TO);
    expect(await retried.address(third, second)).toEqual(RESULT);
    expect(retried.order.done).toEqual(retried.whole);
  });

  test('when two instances take a call over at once, one of them runs it', async () => {
    const both = await Promise.all([other, third].map((instance) => raced.count(instance, latest(raced))));
    expect(both.filter((outcome) => outcome.asks === undefined && outcome.fails !== LOST.fails)).toEqual([]);
    const second = both.find((outcome) => outcome.asks) as RoundSummary;
    expect(await raced.address(third, second)).toEqual(RESULT);
    const { attempts, done } = raced.order;
    expect([attempts, done]).toEqual([['reserve', 'charge', 'ship'], raced.whole]);
  });

  test('a call whose handler takes other steps when it is run again is rejected, without details for the client', async () => {
    expect(await fickle.count(other, latest(fickle))).toEqual({
      fails:
        'This call cannot be resumed: its handler took other steps than it took before. Start the call again.',
    });
    expect(reportedBy(other)).toEqual([expect.stringContaining('Check that your workflow is deterministic')]);
  });

  test('a question without a key that is asked again in other words ends the call, and `onerror` names it', async () => {
    const errors = reportedBy(other).length;
    expect(await reworded.count(other, latest(reworded))).toEqual({
      fails:
        'This call cannot be resumed: its handler took other steps than it took before. Start the call again.',
    });
    expect(reportedBy(other).slice(errors)).toEqual([
      expect.stringContaining(
        "The answers of round 1 are to 'count', and the handler now asks another question under that key.",
      ),
    ]);
    // The call is over. The same answer gets the same result, and no other instance asks again.
    expect((await reworded.count(third, latest(reworded))).fails).toMatch(/^This call cannot be resumed/);
  });

  test('a replayed step throws the same error again', async () => {
    const untouched = new Call(shop, { name: 'failing' });
    const first = await untouched.first(third);
    const fails = (call: Call) => ({ fails: `No ${call.item} left. Not even 3.` });
    expect(await untouched.count(third, first)).toEqual(fails(untouched));
    expect(await failing.count(other, latest(failing))).toEqual(fails(failing));
  });
});

test('a call that sent its user to a page resumes in another process, and asks again until they have finished there', async () => {
  const dying = await deployment.start();
  const pool = new Pool({ connectionString: deployment.postgres, max: 1 });
  onTestFinished(() => pool.end());
  const pages = new PostgresInteractions(pool);
  await pages.createTable();
  const own: Sent = { name: 'linked', arguments: { item: 'tea' }, principal: 'ada' };
  const agree = (instance: Instance, asked: RoundSummary) => instance.send({ ...own, ...answering(asked) });

  const terms = await dying.send(own);
  expect(terms).toMatchObject({
    asks: { terms: 'Read the terms first.' },
    page: 'https://shop.example/terms',
  });
  const asked = await agree(other, terms);
  expect(asked.asks).toEqual({ link: 'Link your account.' });
  const again = await agree(dying, asked);
  const notYet = {
    link: 'The page is not finished yet. Finish there, and then accept this. Link your account.',
  };
  expect(again).toMatchObject({ asks: notYet, page: asked.page });
  await dying.kill();

  // Its handler runs again here. It has the same page, and the early visits are still too early.
  const resumed = await agree(other, again);
  expect(resumed).toMatchObject({ asks: notYet, page: asked.page });
  const { fetch } = pageOn(pages, policyOf(['k'.repeat(32)]));
  const open = (url: string, user: string, method = 'GET') =>
    fetch(new Request(url, { method, headers: { 'x-user': user, origin: 'https://shop.example' } }));
  expect((await open(asked.page ?? '', 'mallory', 'POST')).status).toBe(404);
  const sent = await open(asked.page ?? '', 'ada', 'POST');
  expect((await open(sent.headers.get('location') ?? '', 'ada')).status).toBe(200);
  expect(await agree(other, resumed)).toEqual({ says: 'tea for the account of ada' });
});
