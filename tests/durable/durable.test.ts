/** Calls that outlive the process that runs them, on a real PostgreSQL, with instances in real processes. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  cut,
  type PostgresServer,
  testServer,
} from '../../packages/linear-dbos/src/database.test-support.ts';
import { Call, LOST, RESULT, WHERE_TO } from './call.test-support.ts';
import { Instance, type Setting } from './instances.test-support.ts';
import { Shop } from './shop.test-support.ts';
import { answering, type Outcome } from './site.test-support.ts';

let server: PostgresServer;
let setting: Setting;
let owner: Instance;
let other: Instance;
let third: Instance;
let confused: Instance;
let newest: Instance;
const started: Instance[] = [];
const shop = new Shop();

async function start(changes: Partial<Setting> = {}): Promise<Instance> {
  const instance = await Instance.start({ ...setting, ...changes }, shop);
  started.push(instance);
  return instance;
}

beforeAll(async () => {
  server = await testServer();
  setting = { postgres: await server.database(), keys: ['k'.repeat(32)], version: '1' };
  // At once, on an empty database: all of them want to make its tables.
  [owner, other, third, confused, newest] = await Promise.all([
    start(),
    start(),
    start(),
    start({ callerOfStore: 'eve' }),
    start({ version: '2', code: '1' }),
  ]);
}, 60_000);
afterAll(async () => {
  await Promise.all(started.map((instance) => instance.kill()));
  await server.stop();
});

test('five instances that start at once on an empty database all serve', async () => {
  const served = started.map((instance) => instance.send({ name: 'silent' }));
  expect(await Promise.all(served)).toEqual(started.map(() => ({ says: 'nothing' })));
  expect(started.flatMap(({ errors }) => errors)).toEqual([]);
});

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

  test('who gives the same answer again gets the same outcome, who gives another one is refused', async () => {
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

  test('of two answers at once one counts, and only who gave that one learns what came of it', async () => {
    const call = new Call(shop);
    const first = await call.first(owner);
    const both = await Promise.all([call.count(owner, first), call.count(other, first, '4')]);
    const [asked, ...more] = both.filter((outcome) => outcome.asks);
    expect([asked?.asks, more]).toEqual([WHERE_TO, []]);
    expect(both).toContainEqual(LOST);
    expect(await call.address(other, asked as Outcome)).toEqual(RESULT);
    expect(call.order.attempts).toEqual(['reserve', 'charge', 'ship']);
  });

  test('while one answer is computed with, who gives the same shares the outcome, who says no is refused', async () => {
    const call = new Call(shop);
    const first = await call.first(owner);
    const charging = call.order.hold('charge');
    const heard = call.count(owner, first);
    await charging;
    const declined = { arguments: { item: call.item }, requestState: first.state };
    const late = [owner, other].flatMap((instance) => [
      call.count(instance, first),
      instance.send({ ...declined, inputResponses: { count: { action: 'decline' } } }),
    ]);
    // They have been sent, and wait for the end of the turn.
    await new Promise((resolve) => setTimeout(resolve, 200));
    call.order.release();
    expect((await heard).asks).toEqual(WHERE_TO);
    const [one, no, another, never] = await Promise.all(late);
    expect([one?.asks, no, another?.asks, never]).toEqual([WHERE_TO, LOST, WHERE_TO, LOST]);
  });

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
    await vi.waitFor(async () => expect(await call.count(third, first)).toEqual(LOST));
    expect(call.order.done).toEqual(call.whole.slice(0, 2));
  });

  test('only who started a call may answer it, whatever the token says', async () => {
    const call = new Call(shop, { principal: 'ada' });
    const first = await call.first(owner);
    expect(await call.answer(owner, first, { count: '3' }, { principal: 'eve' })).toEqual({
      rejects: 'Invalid or expired requestState',
    });
    // The token is right here, and the store itself takes the caller for somebody else.
    expect(await call.count(confused, first)).toEqual(LOST);
    expect(await call.address(owner, await call.count(owner, first))).toEqual(RESULT);
  });
});

describe('after its owner was killed', () => {
  const thinking = new Call(shop);
  const later = new Call(shop);
  const raced = new Call(shop);
  const retried = new Call(shop);
  const noticed = new Call(shop);
  const fickle = new Call(shop, { name: 'fickle' });
  const failing = new Call(shop, { name: 'failing' });
  const newer = new Call(shop);
  const asked = new Map<Call, Outcome>();
  const careless = new Call(shop);
  const pondered = new Call(shop, { name: 'pondering' });
  let answered: Promise<Outcome>;
  let ponderedOn: Promise<Outcome>;

  const latest = (call: Call) => asked.get(call) as Outcome;

  beforeAll(async () => {
    const calls = [thinking, later, raced, retried, noticed, fickle, failing, newer, careless, pondered];
    for (const call of calls) asked.set(call, await call.first(owner));
    asked.set(later, await later.count(owner, latest(later)));
    asked.set(newer, await newer.count(newest, latest(newer)));
    careless.order.honoursKeys = false;
    const computing = [retried, noticed, careless].map(({ order }) => order.hold('charge'));
    computing.push(pondered.order.hold('ponder'));
    for (const call of [retried, careless]) void call.count(owner, latest(call));
    answered = noticed.count(other, latest(noticed));
    ponderedOn = pondered.count(other, latest(pondered));
    await Promise.all(computing);
    await owner.kill();
  }, 30_000);

  test('while its user thought about the first question, a call goes on elsewhere', async () => {
    const second = await thinking.count(other, latest(thinking));
    expect(second.asks).toEqual(WHERE_TO);
    expect(await thinking.address(third, second)).toEqual(RESULT);
    const { attempts, done } = thinking.order;
    expect([attempts, done]).toEqual([['reserve', 'charge', 'ship'], thinking.whole]);
  });

  test('while its user thought about a later question, a call goes on elsewhere', async () => {
    expect(await later.address(other, latest(later))).toEqual(RESULT);
    const { attempts, done } = later.order;
    expect([attempts, done]).toEqual([['reserve', 'charge', 'ship'], later.whole]);
  });

  test('while it computed between two questions, a call goes on elsewhere, and no step is taken twice', async () => {
    const second = await ponderedOn;
    expect(second.asks).toEqual({ address: 'Where to, for charge #2?' });
    expect(await pondered.address(third, second)).toMatchObject({
      says: expect.stringContaining('charge #2'),
    });
    expect(pondered.order.attempts).toEqual(['reserve', 'charge', 'ponder', 'ponder', 'ship']);
  });

  test('in the middle of an effect, whoever waits notices, and the effect is asked for under the same key', async () => {
    const second = await answered;
    expect(second.asks).toEqual(WHERE_TO);
    expect(await noticed.address(other, second)).toEqual(RESULT);
    const { attempts, done } = noticed.order;
    expect([attempts, done]).toEqual([['reserve', 'charge', 'charge', 'ship'], noticed.whole]);
  });

  test('whoever performs effects and ignores their keys does that one twice, and the shop can tell', async () => {
    const second = await careless.count(other, latest(careless));
    expect((await careless.address(other, second)).says).toMatch(/^reserve #1, charge #3, ship #4$/);
    const [reserve, charge, ship] = careless.whole;
    expect(careless.order.faults(true)).toEqual([`did ${[reserve, charge, charge, ship].join(', ')}`]);
    expect([noticed, retried].flatMap(({ order }) => order.faults(false))).toEqual([]);
  });

  test('a client that lost its request presents its answer again, and what it said first counts', async () => {
    expect(await retried.count(other, latest(retried), '4')).toEqual(LOST);
    const second = await retried.count(third, latest(retried));
    expect(second.asks).toEqual(WHERE_TO);
    expect(await retried.address(third, second)).toEqual(RESULT);
    expect(retried.order.done).toEqual(retried.whole);
  });

  test('of two instances that take a call over at once one runs it', async () => {
    const both = await Promise.all([other, third].map((instance) => raced.count(instance, latest(raced))));
    expect(both.filter((outcome) => outcome.asks === undefined && outcome.fails !== LOST.fails)).toEqual([]);
    const second = both.find((outcome) => outcome.asks) as Outcome;
    expect(await raced.address(third, second)).toEqual(RESULT);
    const { attempts, done } = raced.order;
    expect([attempts, done]).toEqual([['reserve', 'charge', 'ship'], raced.whole]);
  });

  test('a handler that does other things when it is run again is refused, and does not see why', async () => {
    expect(await fickle.count(other, latest(fickle))).toEqual({
      fails:
        'This call cannot go on: its handler took other steps than it took before. Start the call again.',
    });
    expect(other.errors).toEqual([expect.stringContaining('Check that your workflow is deterministic')]);
  });

  test('an error of a step is the same when it is thrown again', async () => {
    const untouched = new Call(shop, { name: 'failing' });
    const first = await untouched.first(third);
    const fails = (call: Call) => ({ fails: `No ${call.item} left. Not even 3.` });
    expect(await untouched.count(third, first)).toEqual(fails(untouched));
    expect(await failing.count(other, latest(failing))).toEqual(fails(failing));
  });

  test('an instance of another version, which passed answers on before, refuses the call by name', async () => {
    expect(latest(newer).asks).toEqual(WHERE_TO);
    expect(await newer.address(newest, latest(newer))).toEqual({
      fails:
        "This call began on version '1' of this server, no instance of which runs it any longer, and cannot go on on " +
        "version '2'. Start the call again.",
    });
    expect(newer.order.done).toEqual(newer.whole.slice(0, 2));
  });

  test('a call of a store that was closed goes on elsewhere as well', async () => {
    const call = new Call(shop);
    const first = await call.first(third);
    await third.close();
    expect(await call.address(other, await call.count(other, first))).toEqual(RESULT);
    expect(call.order.done).toEqual(call.whole);
  });

  test('an instance whose connections were cut goes on with its calls', async () => {
    const call = new Call(shop);
    const first = await call.first(other);
    await cut(setting.postgres);
    const second = await vi.waitFor(async () => {
      const outcome = await call.count(other, first);
      expect(outcome.asks).toEqual(WHERE_TO);
      return outcome;
    }, 10_000);
    expect(await call.address(other, second)).toEqual(RESULT);
    expect(call.order.done).toEqual(call.whole);
  }, 15_000);
});
