/**
 * Many calls over real HTTP. Instances are killed at random moments and started again, and answers are presented twice.
 * The random choices come from a seed; their timing depends on the machine. `partition.proof.ts` cuts connections.
 */
import { Instance, type Setting } from './instances.test-support.ts';
import type { Shop } from './shop.test-support.ts';
import { answering, type Outcome, type Sent } from './site.test-support.ts';

export interface Chaos {
  readonly setting: Setting;
  readonly shop: Shop;
  readonly calls: number;
  readonly seed: number;
}

export interface Tally {
  completed: number;
  readonly refused: string[];
  /** Calls whose first request was lost, so that their client began another call. */
  lost: number;
  /** Answers that were presented at once to two instances. */
  doubled: number;
  kills: number;
  /** Violations: wrong effects or wrong responses. */
  readonly faults: string[];
}

const FLEET = 3;
const AT_ONCE = 16;
/** How often an answer is presented again. */
const PATIENCE = 40;
/** How many events (an effect, or an answered request) happen between two kills, on average. */
const BETWEEN = 40;
const RESULT = /^reserve #1, charge #2, ship #3$/;
const CLEAN = /^(?:This call |The calls? |This server |Nobody answered )[^\n]*$/;
const TELLTALE = /postgres|SQL|SELECT|relation|password|DBOS|node:|\bat .*:\d+/i;
const AGAIN = /[Ss]end the same answer again/;
/** The client's error for a server that died. */
const DIED = /fetch failed|terminated|socket|ECONN|closed|disconnected|before/i;

type Random = () => number;

/** Numbers in [0, 1), always the same for a seed (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)] as T;

/** Makes all calls, and kills the remaining instances in the end. */
export async function chaos(plan: Chaos): Promise<Tally> {
  const fleet = await Fleet.start(plan);
  try {
    const numbers = Array.from({ length: plan.calls }, (_, at) => at).values();
    const customer = async () => {
      for (const number of numbers) await new Caller(number, plan, fleet).call();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, customer));
    return fleet.tally;
  } finally {
    await fleet.end();
  }
}

const contentFor = ({ asks }: Outcome): Readonly<Record<string, string>> =>
  Object.values(asks ?? {})[0]?.startsWith('How many') ? { count: '3' } : { address: 'home' };

/** The instances, and their deaths. */
class Fleet {
  readonly tally: Tally = { completed: 0, refused: [], lost: 0, doubled: 0, kills: 0, faults: [] };
  readonly #plan: Chaos;
  readonly #random: Random;
  readonly #slots = new Map<number, Instance>();
  readonly #starting = new Map<number, Promise<void>>();
  #happened = 0;
  #next: number;

  private constructor(plan: Chaos) {
    this.#plan = plan;
    this.#random = randomFrom(plan.seed);
    this.#next = this.#interval();
  }

  static async start(plan: Chaos): Promise<Fleet> {
    const fleet = new Fleet(plan);
    for (let slot = 0; slot < FLEET; slot++) fleet.#starts(slot);
    await Promise.all(fleet.#starting.values());
    return fleet;
  }

  /** A live instance, when there is one; if possible another than `other`. */
  async someone(random: Random, other?: Instance): Promise<Instance> {
    // A start takes as long as many calls; without this, kills would become too rare.
    while (this.#slots.size === 0 || (this.#isDue && this.#slots.size < FLEET - 1))
      await Promise.race(this.#starting.values());
    const all = [...this.#slots.values()];
    const others = all.filter((instance) => instance !== other);
    return pick(others.length > 0 ? others : all, random);
  }

  /** An event has happened at `instance`. It may fail now. */
  happened(instance: Instance): void {
    this.#happened++;
    if (!this.#isDue || this.#slots.size < FLEET - 1) return;
    this.#next = this.#happened + this.#interval();
    const which = this.#random();
    if (which < 0.1) for (const each of [...this.#slots.values()]) this.#kill(each);
    else this.#kill(which < 0.6 ? instance : pick([...this.#slots.values()], this.#random));
  }

  async end(): Promise<void> {
    await Promise.allSettled(this.#starting.values());
    await Promise.all([...this.#slots.values()].map((instance) => instance.kill()));
  }

  get #isDue(): boolean {
    return this.#happened >= this.#next;
  }

  #interval(): number {
    return Math.ceil((0.5 + this.#random()) * BETWEEN);
  }

  #kill(instance: Instance): void {
    const slot = [...this.#slots].find(([, each]) => each === instance)?.[0];
    // It has been killed already; this event was still on its way.
    if (slot === undefined) return;
    this.#slots.delete(slot);
    this.tally.kills++;
    void instance.kill();
    this.#starts(slot);
  }

  #starts(slot: number): void {
    const { setting, shop } = this.#plan;
    const started = async () => {
      const instance = await Instance.start(setting, shop);
      instance.onEffect = () => this.happened(instance);
      instance.onDeath = () => this.tally.faults.push('An instance ended that nobody had killed.');
      this.#slots.set(slot, instance);
      this.#starting.delete(slot);
    };
    this.#starting.set(slot, started());
  }
}

/** A client that makes one call, and keeps trying. */
class Caller {
  readonly #random: Random;
  readonly #fleet: Fleet;
  readonly #shop: Shop;
  readonly #number: number;

  constructor(number: number, { seed, shop }: Chaos, fleet: Fleet) {
    this.#number = number;
    this.#random = randomFrom(seed + 1 + number);
    this.#fleet = fleet;
    this.#shop = shop;
  }

  /** Makes the call, and a new one if its first request was lost: nobody can resume that one. */
  async call(): Promise<void> {
    const { tally } = this.#fleet;
    for (let attempt = 1; ; attempt++) {
      const item = `order ${this.#number}.${attempt}`;
      const outcome = await this.#callFor(item);
      const completed = outcome.says !== undefined;
      const faults = this.#shop.of(item).faults(completed);
      if (completed && !RESULT.test(outcome.says ?? '')) faults.push(`said ${outcome.says}`);
      if (outcome.fails !== undefined && (!CLEAN.test(outcome.fails) || TELLTALE.test(outcome.fails)))
        faults.push(`was refused with ${outcome.fails}`);
      if (outcome.rejects !== undefined && !DIED.test(outcome.rejects))
        faults.push(`was rejected with ${outcome.rejects}`);
      tally.faults.push(...faults.map((fault) => `${item} ${fault}`));
      if (completed) tally.completed++;
      if (outcome.fails !== undefined) tally.refused.push(outcome.fails);
      if (outcome.rejects === undefined) return;
      tally.lost++;
    }
  }

  async #callFor(item: string): Promise<Outcome> {
    const args = { arguments: { item } };
    let outcome = await this.#once(args);
    while (outcome.asks) {
      outcome = await this.#present({ ...args, ...answering(outcome, contentFor(outcome)) });
    }
    return outcome;
  }

  /** Presents an answer until a result comes; sometimes to two instances at once. */
  async #present(sent: Sent): Promise<Outcome> {
    const twice = this.#random() < 0.2;
    let outcome: Outcome = {};
    for (let attempt = 0; attempt < PATIENCE; attempt++) {
      outcome = twice && attempt === 0 ? await this.#twice(sent) : await this.#once(sent);
      const isLost = outcome.rejects !== undefined && DIED.test(outcome.rejects);
      if (!isLost && !AGAIN.test(outcome.fails ?? '')) return outcome;
    }
    return { fails: `No instance had an answer, ${PATIENCE} times: ${JSON.stringify(outcome)}` };
  }

  async #twice(sent: Sent): Promise<Outcome> {
    const { tally } = this.#fleet;
    tally.doubled++;
    const one = await this.#fleet.someone(this.#random);
    const other = await this.#fleet.someone(this.#random, one);
    const both = await Promise.all([this.#at(one, sent), this.#at(other, sent)]);
    const [best, ...more] = both.filter(({ asks, says }) => asks ?? says);
    const said = (outcome: Outcome) => JSON.stringify(outcome.asks ?? outcome.says);
    if (best && more.some((each) => said(each) !== said(best)))
      tally.faults.push(`order ${this.#number} ended with ${both.map(said).join(' and ')}`);
    return best ?? (both[0] as Outcome);
  }

  async #once(sent: Sent): Promise<Outcome> {
    return this.#at(await this.#fleet.someone(this.#random), sent);
  }

  async #at(instance: Instance, sent: Sent): Promise<Outcome> {
    const outcome = await instance.send(sent);
    this.#fleet.happened(instance);
    return outcome;
  }
}
