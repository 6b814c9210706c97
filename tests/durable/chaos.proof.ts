/**
 * Many calls over real HTTP, while instances are killed or lose their sessions at random, and clients send answers twice.
 * The random choices come from a seed; their timing depends on the machine. `partition.proof.ts` cuts connections.
 */
import { hash } from 'node:crypto';
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect, vi } from 'vitest';
import { leftOfCalls } from '../../packages/linear-dbos/src/database.test-support.ts';
import { Call, RESULT } from './call.test-support.ts';
import { Instance, type Setting } from './instances.test-support.ts';
import { Shop } from './shop.test-support.ts';
import type { RoundSummary } from './site.test-support.ts';

const SEED = Number(process.env.MRTR_CHAOS_SEED ?? 20261122);
const CALLS = Number(process.env.MRTR_CHAOS_CALLS ?? 80);

const { database, test } = await postgresOfTheRun();

const AT_ONCE = 16;
/** How often a client sends an answer again. */
const PATIENCE = 40;
const CLEAN = /^(?:This call |The calls? |This server |Nobody answered )[^\n]*$/;
const TELLTALE = /postgres|SQL|SELECT|relation|password|DBOS|node:|\bat .*:\d+/i;
const AGAIN = /[Ss]end the same answer again/;
/** The client's error for a server that died. */
const DIED = /fetch failed|terminated|socket|ECONN|closed|disconnected|before/i;

const isLost = ({ fails = '', rejects = '' }: RoundSummary) => DIED.test(rejects) || AGAIN.test(fails);
const shown = ({ asks, says }: RoundSummary) => JSON.stringify(asks ?? says);

/** A generator of numbers in [0, 1), equal for equal seeds. */
function randomFrom(seed: number): () => number {
  let drawn = 0;
  return () => Number.parseInt(hash('sha256', `${seed} ${drawn++}`).slice(0, 8), 16) / 2 ** 32;
}

/** Random faults of a fleet, one per some number of events on average. An event is an effect or an answered request. */
interface Strikes {
  readonly between: number;
  /** Called after an event at `place`. */
  strike(fleet: Fleet, place: number, random: () => number): unknown;
}

/** Instances, each at its place. A killed one is started again at the same place. */
class Fleet {
  readonly shop = new Shop();
  readonly faults: string[] = [];
  kills = 0;
  readonly #setting: Setting;
  readonly #strikes: Strikes;
  readonly #random = randomFrom(SEED);
  readonly #places: Promise<Instance>[];
  #left: number;

  constructor(setting: Setting, size: number, strikes: Strikes) {
    this.#setting = setting;
    this.#strikes = strikes;
    this.#left = strikes.between;
    this.#places = Array.from({ length: size }, (_, place) => this.#start(place));
  }

  /** Sends a request to the instance that `choice`, in [0, 1), selects, or to the `next`th one after it. */
  async send(
    request: (to: Instance) => Promise<RoundSummary>,
    choice: number,
    next = 0,
  ): Promise<RoundSummary> {
    const place = (Math.floor(choice * this.#places.length) + next) % this.#places.length;
    const outcome = await request((await this.#places[place]) as Instance);
    this.#happened(place);
    return outcome;
  }

  async kill(place = Math.floor(this.#random() * this.#places.length)): Promise<void> {
    const started = this.#places[place];
    const instance = await started;
    if (this.#places[place] !== started) return;
    this.kills++;
    this.#places[place] = this.#start(place);
    await instance?.kill();
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#places.map((_, place) => this.kill(place)));
  }

  async end(): Promise<void> {
    for (const started of await Promise.allSettled(this.#places))
      if (started.status === 'fulfilled') await started.value.kill();
  }

  async #start(place: number): Promise<Instance> {
    const instance = await Instance.start(this.#setting, this.shop);
    instance.onEffect = () => this.#happened(place);
    instance.onDeath = () => this.faults.push('An instance ended that nobody had killed.');
    return instance;
  }

  #happened(place: number): void {
    if (--this.#left > 0) return;
    this.#left = Math.ceil((0.5 + this.#random()) * this.#strikes.between);
    void this.#strikes.strike(this, place, this.#random);
  }
}

interface Tally {
  readonly finished: Call[];
  readonly rejected: string[];
  /** Calls whose first request was lost. Nobody can resume them, so their client began another. */
  lost: number;
}

/** Makes calls, several at once, each by a client that keeps trying. */
async function callThrough(fleet: Fleet, calls: number, prepare = (_call: Call) => {}): Promise<Tally> {
  const tally: Tally = { finished: [], rejected: [], lost: 0 };
  const numbers = Array.from({ length: calls }, (_, at) => at).values();
  const customer = async () => {
    for (const number of numbers) await callOnce(fleet, randomFrom(SEED + 1 + number), tally, prepare);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, customer));
  return tally;
}

async function callOnce(fleet: Fleet, random: () => number, tally: Tally, prepare: (call: Call) => void) {
  for (;;) {
    const call = new Call(fleet.shop);
    prepare(call);
    let outcome = await fleet.send(call.first, random());
    const wasLost = isLost(outcome);
    for (const answer of [{ count: '3' }, { address: 'home' }]) {
      const asked = outcome;
      if (asked.asks) outcome = await present(fleet, random, (to) => call.answer(to, asked, answer));
    }
    fleet.faults.push(...faultsOf(call, outcome).map((fault) => `${call.item} ${fault}`));
    if (outcome.says) tally.finished.push(call);
    else if (!wasLost) tally.rejected.push(JSON.stringify(outcome));
    if (!wasLost) return;
    tally.lost++;
  }
}

/** Sends an answer until a result comes. The first time, sometimes to two instances at once. */
async function present(fleet: Fleet, random: () => number, answer: (to: Instance) => Promise<RoundSummary>) {
  let isTwice = random() < 0.2;
  for (let attempt = 1; ; attempt++) {
    const choice = random();
    const sent = [0, ...(isTwice ? [1] : [])].map((next) => fleet.send(answer, choice, next));
    isTwice = false;
    const outcomes = await Promise.all(sent);
    const [best = outcomes[0] as RoundSummary, ...more] = outcomes.filter(({ asks, says }) => asks ?? says);
    if (more.some((other) => shown(other) !== shown(best)))
      fleet.faults.push(`One answer led to ${outcomes.map(shown).join(' and ')}.`);
    if (!isLost(best)) return best;
    if (attempt < PATIENCE) continue;
    fleet.faults.push(`Sent ${PATIENCE} times, an answer led to ${JSON.stringify(best)}.`);
    return best;
  }
}

function faultsOf({ order }: Call, { says, fails, rejects }: RoundSummary): string[] {
  const faults = order.faults(says !== undefined);
  if (says !== undefined && says !== RESULT.says) faults.push(`said ${says}`);
  if (fails !== undefined && (!CLEAN.test(fails) || TELLTALE.test(fails)))
    faults.push(`was rejected with ${fails}`);
  if (rejects !== undefined && !DIED.test(rejects)) faults.push(`was rejected with ${rejects}`);
  return faults;
}

test(`every call is completed or rejected, and no effect happens twice (${CALLS} calls, MRTR_CHAOS_SEED=${SEED})`, {
  timeout: 300_000,
}, async () => {
  const postgres = await database();
  const own = { postgres, keys: ['k'.repeat(32)], version: '1' };
  const fleet = new Fleet({ ...own, limits: { perPrincipal: 0.1 }, takeOverSeconds: 1 }, 3, {
    between: 40,
    strike: (struck, place, random) => {
      const which = random();
      return which < 0.1 ? struck.killAll() : struck.kill(which < 0.6 ? place : undefined);
    },
  });
  const { finished, rejected, lost } = await callThrough(fleet, CALLS).finally(() => fleet.end());
  console.info({ finished: finished.length, rejected, lost, kills: fleet.kills });
  expect(fleet.faults).toEqual([]);
  expect(finished.length + rejected.length).toBe(CALLS);
  expect(finished.length).toBeGreaterThanOrEqual(0.95 * CALLS);
  expect(fleet.kills).toBeGreaterThan(CALLS / 20);

  // Make all calls expire, now that no instance runs one.
  await query(postgres, 'UPDATE mrtr_linear.mrtr_calls SET expires_at = now()');
  const sweeper = await Instance.start({ ...own, sweepSeconds: 1 });
  await vi.waitFor(async () => expect(await leftOfCalls(postgres)).toBe(0), 60_000);
  await sweeper.kill();
});

/** Ends only the sessions that show instances as alive. */
const cutSessions = (postgres: string) =>
  query(
    postgres,
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );

test('sessions that end at any moment repeat no effect while their instances live', {
  timeout: 300_000,
}, async () => {
  const postgres = await database();
  // Several losses in a row may cost a call several times this.
  const setting: Setting = { postgres, keys: ['k'.repeat(32)], version: '1', takeOverSeconds: 30 };
  let cuts = 0;
  const fleet = new Fleet(setting, 2, {
    between: 20,
    strike: () => cutSessions(postgres).then(() => cuts++),
  });
  const { finished, rejected } = await callThrough(fleet, 60, ({ order }) => {
    // Make a repeated effect visible.
    order.honoursKeys = false;
  }).finally(() => fleet.end());
  expect([fleet.faults, rejected]).toEqual([[], []]);
  expect(finished.map(({ order }) => order.attempts)).toEqual(Array(60).fill(['reserve', 'charge', 'ship']));
  expect(cuts).toBeGreaterThan(5);
});
