/**
 * `@mrtr/ledgers/contract`: the vitest tests that every ledger has to pass. Run them on your own ledger, against the
 * database that it will use.
 */
import { randomUUID } from 'node:crypto';
import type { LeaseRequest, StateLedger } from '@mrtr/core/seal';
import { describe, expect, it } from 'vitest';
import { FIRST, leaseRequest, takeLease } from './contract-requests.ts';
import type { LedgerCapacity } from './limits.ts';

export * from './interactions-contract.ts';

/** The limits of one principal in a ledger. */
export type LedgerLimits = Pick<LedgerCapacity, 'maxEntriesPerPrincipal' | 'maxBytesPerPrincipal'>;

/** A ledger under test: the entries that its instances share. */
export interface LedgerUnderTest {
  /**
   * Another instance of the ledger on the same entries, as a second replica of a server would have.
   *
   * @param limits the limits of one principal. Default: the ledger's own.
   */
  another(limits?: LedgerLimits): Promise<StateLedger>;
  /** Moves the end of an entry's lease into the past. */
  lapse(id: string): Promise<void>;
  /**
   * Deletes all stored entries, as if the database was emptied or restored. Every ledger that outlives its process needs
   * it. A ledger in memory loses its entries only with its process.
   */
  lose?(): Promise<void>;
}

/**
 * Defines the contract's tests in their own `describe`. Call it at the top of a vitest file, or in a `describe`.
 *
 * @param name names the ledger's storage; it is part of the tests' names.
 * @param make makes a ledger for each test. Tests use random ids, so ledgers may share their entries.
 *
 * @example
 * import { MemoryLedger } from '@mrtr/core';
 * import { ledgerContract } from '@mrtr/ledgers/contract';
 *
 * ledgerContract('memory', async () => {
 *   let passed = 0;
 *   const now = () => Date.now() + passed;
 *   const ledger = new MemoryLedger({ now });
 *   return {
 *     another: async (limits) => (limits ? new MemoryLedger({ ...limits, now }) : ledger),
 *     lapse: async () => {
 *       passed += 2000;
 *     },
 *   };
 * });
 */
export function ledgerContract(name: string, make: Make): void {
  describe(`the ledger on ${name}`, () => {
    decisions(make);
    leases(make);
    beginnings(make);
    limits(make);
    results(make);
  });
}

type Make = () => Promise<LedgerUnderTest>;

/** Two instances on the same entries, and the requests for a token that neither knows. */
async function start(make: Make) {
  const { another, lapse, lose } = await make();
  const [one, two, id] = [await another(), await another(), randomUUID()];
  const lease = (ledger: StateLedger, of?: Partial<LeaseRequest>) => ledger.lease(leaseRequest(id, of));
  const take = (ledger: StateLedger, of?: Partial<LeaseRequest>) => takeLease(ledger, leaseRequest(id, of));
  return { one, two, another, lapse, lose, id, lease, take };
}

const IN_FLIGHT = { kind: 'in-flight' };
const LOST = { kind: 'lost' };
const TOO_OLD = { kind: 'older-than-ledger' };

function decisions(make: Make): void {
  it('gives exactly one of many concurrent requests, on several instances, the first place', async () => {
    const { one, two, another, lease } = await start(make);
    const decisions = await Promise.all(
      [one, two, await another()].flatMap((ledger) => Array.from({ length: 10 }, () => lease(ledger))),
    );
    expect(decisions.filter(({ kind }) => kind === 'first')).toHaveLength(1);
    expect(decisions.filter(({ kind }) => kind === 'in-flight')).toHaveLength(29);
  });

  it('answers in-flight until the lease on a token ends, and lost from then on', async () => {
    const { one, two, lapse, id, lease } = await start(make);
    expect(await lease(one, { leaseSeconds: 1 })).toEqual(FIRST);
    expect(await lease(two, { leaseSeconds: 1 })).toEqual(IN_FLIGHT);
    await lapse(id);
    expect(await lease(two, { leaseSeconds: 1 })).toEqual(LOST);
    expect(await lease(two, { leaseSeconds: 1 })).toEqual(LOST);
  });

  it('keeps tokens apart, also with special characters in their ids', async () => {
    const ledger = await (await make()).another();
    const ids = ['__proto__', "'; DROP TABLE mrtr_ledger; --", '*', randomUUID(), 'a b', 'ä'];
    const fresh = ids.map((id) => `${id}${randomUUID()}`);
    for (const id of fresh) expect(await ledger.lease(leaseRequest(id))).toEqual(FIRST);
    for (const id of fresh) expect(await ledger.lease(leaseRequest(id))).toEqual(IN_FLIGHT);
  });
}

function leases(make: Make): void {
  it('gives back the place of a released token, of its principal too', async () => {
    const ledger = await (await make()).another({ maxEntriesPerPrincipal: 1 });
    const [ada, id] = [randomUUID(), randomUUID()];
    const lease = await takeLease(ledger, leaseRequest(id, { pseudonym: ada }));
    const second = leaseRequest(randomUUID(), { pseudonym: ada });
    await expect(ledger.lease(second)).rejects.toMatchObject({ code: 'store_full' });
    await ledger.release(id, lease);
    expect(await ledger.lease(second)).toEqual(FIRST);
  });

  it('gives the token of a released lease a new one, to which the released one does nothing', async () => {
    const { one, two, id, lease, take } = await start(make);
    const stale = await take(one);
    await one.release(id, stale);
    const own = await take(two);
    expect(own).not.toBe(stale);
    await one.settle(id, stale, 'stale');
    await one.release(id, stale);
    expect(await lease(one)).toEqual(IN_FLIGHT);
    await two.settle(id, own, 'done');
    expect(await lease(one)).toMatchObject({ kind: 'settled', result: 'done' });
  });

  it('lets a lease that it never gave do nothing', async () => {
    const { one: ledger, id, lease, take } = await start(make);
    await take(ledger);
    for (const unknown of [randomUUID(), '']) {
      await ledger.settle(id, unknown, 'unknown');
      await ledger.release(id, unknown);
      expect(await lease(ledger)).toEqual(IN_FLIGHT);
    }
    const never = randomUUID();
    await ledger.settle(never, randomUUID(), 'unknown');
    await ledger.release(never, randomUUID());
    expect(await ledger.lease(leaseRequest(never))).toEqual(FIRST);
  });

  it('keeps an entry whose lease ended, until its own lease is released', async () => {
    const { one: ledger, lapse, id, lease, take } = await start(make);
    const own = await take(ledger, { leaseSeconds: 1 });
    await lapse(id);
    await ledger.release(id, randomUUID());
    expect(await lease(ledger)).toEqual(LOST);
    await ledger.release(id, own);
    expect(await lease(ledger)).toEqual(FIRST);
  });

  it('gives a token that is released in many places at once to exactly one of the next requests', async () => {
    const { one, two, id, lease, take } = await start(make);
    const own = await take(one);
    await Promise.all([one, two, one, two].map((ledger) => ledger.release(id, own)));
    const next = [one, two, one, two].flatMap((ledger) => [lease(ledger), ledger.release(id, own)]);
    const kinds = (await Promise.all(next)).flatMap((decision) => (decision ? [decision.kind] : []));
    expect(kinds.toSorted()).toEqual(['first', 'in-flight', 'in-flight', 'in-flight']);
  });
}

function beginnings(make: Make): void {
  it('refuses a token that was issued before it began, if it outlives its process', async () => {
    const { one: ledger, lose, lease } = await start(make);
    // A ledger in memory begins with its process. It must not reject every call that was open before.
    const expected = lose ? TOO_OLD : FIRST;
    expect(await lease(ledger, { issuedAt: 0 })).toEqual(expected);
    expect(await lease(ledger)).toEqual(lose ? FIRST : IN_FLIGHT);
  });

  it('answers what it knows of a token, and records its result, however old the token and its lease are', async () => {
    const { one: ledger, lapse, id, take } = await start(make);
    const own = await take(ledger, { leaseSeconds: 1 });
    const old = leaseRequest(id, { issuedAt: 0 });
    expect(await ledger.lease(old)).toEqual(IN_FLIGHT);
    await lapse(id);
    expect(await ledger.lease(old)).toEqual(LOST);
    await ledger.settle(id, own, 'done');
    expect(await ledger.lease(old)).toEqual({ kind: 'settled', result: 'done', answers: 'yes' });
  });

  it('makes no token usable again when it loses its entries', async ({ skip }) => {
    const { one, two, another, lose, id } = await start(make);
    if (!lose) return skip('the ledger ends with its process');
    const token = leaseRequest(id);
    await one.settle(id, await takeLease(one, token), 'done');
    expect(await two.lease(token)).toMatchObject({ kind: 'settled' });
    await lose();
    const decisions = await Promise.all([one, two, one, two].map((ledger) => ledger.lease(token)));
    expect(decisions).toEqual(decisions.map(() => TOO_OLD));
    // A server whose clock is ahead by half a minute may have issued this token before the loss.
    const ahead = { issuedAt: Date.now() + 30_000, expiresAt: Date.now() + 120_000 };
    expect(await one.lease(leaseRequest(randomUUID(), ahead))).toEqual(TOO_OLD);
    // A new process did not know the entries that were lost.
    expect(await (await another()).lease(token)).toEqual(TOO_OLD);
  });

  it('adds the clock skew once, also where a new process begins first after a loss', async ({ skip }) => {
    const { one, two, another, lose } = await start(make);
    if (!lose) return skip('the ledger ends with its process');
    for (const ledger of [one, two]) await ledger.lease(leaseRequest(randomUUID()));
    await lose();
    const fresh = await another();
    await fresh.lease(leaseRequest(randomUUID())); // It begins, and knows of no loss.
    const makeToken = (ms: number) =>
      leaseRequest(randomUUID(), { issuedAt: Date.now() + ms, expiresAt: Date.now() + 120_000 });
    // A server whose clock is ahead by half a minute may have issued these tokens before the loss.
    for (const ledger of [one, two, fresh]) expect(await ledger.lease(makeToken(30_000))).toEqual(TOO_OLD);
    for (const ledger of [one, two, fresh]) expect(await ledger.lease(makeToken(62_000))).toEqual(FIRST);
  });

  it('subtracts what the clock of a server is ahead from the time of issue', async ({ skip }) => {
    const { another, lose } = await make();
    if (!lose) return skip('the ledger ends with its process');
    await lose();
    const ledger = await another();
    await ledger.lease(leaseRequest(randomUUID())); // From now on, the ledger has a beginning.
    const ahead = (issuedAt: number) => leaseRequest(randomUUID(), { issuedAt, now: Date.now() + 30_000 });
    // By the ledger's clock, the first was issued some twenty seconds ago, before the ledger began.
    expect(await ledger.lease(ahead(Date.now() + 10_000))).toEqual(TOO_OLD);
    expect(await ledger.lease(ahead(Date.now() + 31_000))).toEqual(FIRST);
    // A clock that is behind proves nothing: another server may have issued the token.
    const behind = { issuedAt: Date.now() - 10_000, now: Date.now() - 30_000 };
    expect(await ledger.lease(leaseRequest(randomUUID(), behind))).toEqual(TOO_OLD);
  });
}

function limits(make: Make): void {
  it('gives no lease on a token that has expired by its own clock', async () => {
    const ledger = await (await make()).another();
    const expired = leaseRequest(randomUUID(), { expiresAt: Date.now() - 5000 });
    expect(await ledger.lease(expired)).toEqual({ kind: 'expired' });
  });

  it.each([-700_000, 700_000])(
    'refuses a server whose clock is %i ms off, and returns the difference',
    async (off) => {
      const ledger = await (await make()).another();
      const decision = await ledger.lease(leaseRequest(randomUUID(), { now: Date.now() + off }));
      if (decision.kind !== 'clock-differs') throw new Error(`The ledger answered ${decision.kind}.`);
      expect(Math.abs(decision.byMs - off)).toBeLessThan(30_000);
    },
  );

  it('limits the tokens of one principal, and still has room for others', async () => {
    const ledger = await (await make()).another({ maxEntriesPerPrincipal: 2 });
    const [ada, bob] = [randomUUID(), randomUUID()];
    for (let n = 0; n < 2; n++) await ledger.lease(leaseRequest(randomUUID(), { pseudonym: ada }));
    const third = ledger.lease(leaseRequest(randomUUID(), { pseudonym: ada }));
    await expect(third).rejects.toMatchObject({ code: 'store_full' });
    expect(await ledger.lease(leaseRequest(randomUUID(), { pseudonym: bob }))).toEqual(FIRST);
  });

  it('keeps a limited number of bytes of one principal’s results; a result without room counts as lost', async () => {
    const ledger = await (await make()).another({ maxBytesPerPrincipal: 1000 });
    const [ada, bob] = [randomUUID(), randomUUID()];
    const kinds: string[] = [];
    for (const [pseudonym, bytes] of [
      [ada, 600],
      [ada, 401],
      [ada, 400],
      [ada, 1],
      [bob, 1000],
    ] as const) {
      const id = randomUUID();
      const lease = await takeLease(ledger, leaseRequest(id, { pseudonym }));
      await ledger.settle(id, lease, 'x'.repeat(bytes));
      // It was served, so it cannot be released any more.
      await ledger.release(id, lease);
      kinds.push((await ledger.lease(leaseRequest(id, { pseudonym }))).kind);
    }
    expect(kinds).toEqual(['settled', 'lost', 'settled', 'lost', 'settled']);
  });
}

function results(make: Make): void {
  it('gives every instance the settled result, character by character', async () => {
    const { one, two, id, lease, take } = await start(make);
    const result = JSON.stringify({ text: 'ünïcode \u{1f600} \u0000 "quotes"', long: 'x'.repeat(100_000) });
    await one.settle(id, await take(one), result);
    expect(await lease(two)).toEqual({ kind: 'settled', result, answers: 'yes' });
    expect(await lease(one)).toEqual({ kind: 'settled', result, answers: 'yes' });
  });

  it('keeps the first result and the first answers after later results, releases and answers', async () => {
    const { one, two, id, take } = await start(make);
    const own = await take(one, { answers: 'yes' });
    await one.settle(id, own, 'first');
    await two.settle(id, own, 'second');
    await one.release(id, own);
    const again = leaseRequest(id, { answers: 'no' });
    expect(await two.lease(again)).toEqual({ kind: 'settled', result: 'first', answers: 'yes' });
  });
}
