/** Calls that outlive the process that runs them, on a real PostgreSQL, with instances in real processes. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type PostgresServer, query, testServer } from './database.test-support.ts';
import { Instance, type Setting, Shop } from './instances.test-support.ts';
import { answering, type Outcome, type Sent } from './site.test-support.ts';

const LOST: Outcome = {
  fails:
    'This call cannot go on here: its continuation expired, was resumed already, or is unknown. Start the call again.',
};
const WHERE_TO = { address: 'Where to, for charge #2?' };
const RESULT: Outcome = { says: 'reserve #1, charge #2, ship #3' };

let server: PostgresServer;
let setting: Setting;
let owner: Instance;
let other: Instance;
let third: Instance;
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
  [owner, other, third] = await Promise.all([start(), start(), start()]);
}, 60_000);
afterAll(async () => {
  await Promise.all(started.map((instance) => instance.kill()));
  await server.stop();
});

let orders = 0;

/** One call of a tool, sent to whichever instance. */
class Call {
  readonly item = `tea ${++orders}`;
  readonly order = shop.of(this.item);
  readonly #sent: Sent;

  constructor(sent: Sent = {}) {
    this.#sent = { arguments: { item: this.item }, ...sent };
  }

  first = (instance: Instance) => instance.send(this.#sent);

  answer(instance: Instance, asked: Outcome, content: Readonly<Record<string, string>>, sent: Sent = {}) {
    return instance.send({ ...this.#sent, ...answering(asked, content), ...sent });
  }

  count = (instance: Instance, asked: Outcome, count = '3') => this.answer(instance, asked, { count });
  address = (instance: Instance, asked: Outcome) => this.answer(instance, asked, { address: 'home' });

  /** All that is to be done, once. */
  get whole(): string[] {
    return [`reserve ${this.item}`, `charge 3 ${this.item}`, 'ship to home'];
  }
}

describe('while its owner lives', () => {
  test('any instance can answer a call', async () => {
    const call = new Call();
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
    const call = new Call();
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

  test('of two answers at once one counts, and whoever gets a question gets the same', async () => {
    const call = new Call();
    const first = await call.first(owner);
    const both = await Promise.all([call.count(owner, first), call.count(other, first, '4')]);
    expect(both.filter((outcome) => outcome.asks === undefined && outcome.fails !== LOST.fails)).toEqual([]);
    const asked = both.filter((outcome) => outcome.asks);
    expect(asked.map(({ asks }) => asks)).toEqual(asked.map(() => WHERE_TO));
    expect(await call.address(other, asked[0] as Outcome)).toEqual(RESULT);
    expect(call.order.attempts).toEqual(['reserve', 'charge', 'ship']);
  });

  test.each([
    ['that runs it', () => owner],
    ['that does not', () => other],
  ])('a client that cancels its request at an instance %s ends the call', async (_which, where) => {
    const call = new Call();
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
    const confused = await start({ callerOfStore: 'eve' });
    const call = new Call({ principal: 'ada' });
    const first = await call.first(owner);
    expect(await call.answer(owner, first, { count: '3' }, { principal: 'eve' })).toEqual({
      rejects: 'Invalid or expired requestState',
    });
    // The token is right here, and the store itself takes the caller for somebody else.
    expect(await call.count(confused, first)).toEqual(LOST);
    await confused.kill();
    expect(await call.address(owner, await call.count(owner, first))).toEqual(RESULT);
  });
});

describe('after its owner was killed', () => {
  const thinking = new Call();
  const later = new Call();
  const raced = new Call();
  const retried = new Call();
  const noticed = new Call();
  const fickle = new Call({ name: 'fickle' });
  const failing = new Call({ name: 'failing' });
  const newer = new Call();
  const asked = new Map<Call, Outcome>();
  let answered: Promise<Outcome>;
  let newest: Instance;

  const latest = (call: Call) => asked.get(call) as Outcome;

  beforeAll(async () => {
    const calls = [thinking, later, raced, retried, noticed, fickle, failing, newer];
    for (const call of calls) asked.set(call, await call.first(owner));
    asked.set(later, await later.count(owner, latest(later)));
    newest = await start({ version: '2' });
    asked.set(newer, await newer.count(newest, latest(newer)));
    const charging = [retried, noticed].map(({ order }) => order.hold('charge'));
    void retried.count(owner, latest(retried));
    answered = noticed.count(other, latest(noticed));
    await Promise.all(charging);
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

  test('in the middle of an effect, whoever waits notices, and the effect is asked for under the same key', async () => {
    const second = await answered;
    expect(second.asks).toEqual(WHERE_TO);
    expect(await noticed.address(other, second)).toEqual(RESULT);
    const { attempts, done } = noticed.order;
    expect([attempts, done]).toEqual([['reserve', 'charge', 'charge', 'ship'], noticed.whole]);
  });

  test('a client that lost its request presents its answer again, and what it said first counts', async () => {
    const second = await retried.count(other, latest(retried), '4');
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
    const untouched = new Call({ name: 'failing' });
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
    const call = new Call();
    const first = await call.first(third);
    await third.close();
    expect(await call.address(other, await call.count(other, first))).toEqual(RESULT);
    expect(call.order.done).toEqual(call.whole);
  });

  test('an instance whose connections were cut goes on with its calls', async () => {
    const call = new Call();
    const first = await call.first(other);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    await query(setting.postgres, cut);
    const second = await vi.waitFor(async () => {
      const outcome = await call.count(other, first);
      expect(outcome.asks).toEqual(WHERE_TO);
      return outcome;
    }, 10_000);
    expect(await call.address(other, second)).toEqual(RESULT);
    expect(call.order.done).toEqual(call.whole);
  }, 15_000);
});
