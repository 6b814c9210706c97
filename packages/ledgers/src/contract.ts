/**
 * `@mrtr/ledgers/contract`: the vitest tests that every ledger has to pass. Run them on your own ledger, against the
 * database that it will use.
 */
import { randomUUID } from 'node:crypto';
import type { StateLedger } from '@mrtr/core/seal';
import { describe, expect, it } from 'vitest';
import { FIRST, leaseRequest, takeLease } from './contract-requests.ts';
import type { LedgerLimits } from './limits.ts';

export { interactionsContract } from './interactions-contract.ts';

/** A ledger under test: the entries that its instances share. */
interface LedgerUnderTest {
  /**
   * Another instance of the ledger on the same entries, as a second replica of a server would have.
   *
   * @param limits its limits. Default: the ledger's own. Of each, one principal may take
   * `Math.max(1, Math.floor(limit * perPrincipal))`.
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

type Make = () => Promise<LedgerUnderTest>;

/** Asks for a lease on a token that lives for a minute, and returns the decision. */
const decide = (ledger: StateLedger, ...token: Parameters<typeof leaseRequest>) =>
  ledger.lease(leaseRequest(...token));

type Asking = Parameters<typeof decide>;

/** Makes a function that expects a decision about a token that lives for a minute. */
const expecting =
  (decision: object) =>
  async (...asked: Asking) =>
    expect(await decide(...asked)).toEqual(decision);

const expectFirst = expecting(FIRST);
const expectInFlight = expecting({ kind: 'in-flight' });
const expectLost = expecting({ kind: 'lost' });
const expectOlder = expecting({ kind: 'older-than-ledger' });
const expectFull = (...asked: Asking) =>
  expect(decide(...asked)).rejects.toMatchObject({ code: 'store_full' });

/** Limits of which one principal may take `entries`. */
const limitsOfOne = (entries: number): LedgerLimits => ({
  entries: 1_000_000,
  perPrincipal: entries / 1_000_000,
});

/** A ledger with its own limits, or with `limits`. */
const open = async (make: Make, limits?: LedgerLimits) => (await make()).another(limits);

/** Two instances on the same entries, and the id of a token that neither knows. */
async function start(make: Make) {
  const { another, lapse, lose } = await make();
  return { one: await another(), two: await another(), another, lapse, lose, id: randomUUID() };
}

/**
 * Defines the contract's tests in their own `describe`. Call it at the top of a vitest file, or in a `describe`.
 *
 * A ledger's duties:
 *
 * - `lease` looks for the entry, compares the times, counts the limits and writes the entry in one atomic step.
 * - Each `first` brings a new random id, stored in the entry. `settle` and `release` compare it in the step that writes,
 *   and do nothing if it is not the entry's. A lease whose time ended can still settle, until another lease has its
 *   entry. If the reply of `lease` is lost, release its lease: nobody else knows it.
 * - `release` deletes an entry without a result, and its place in every limit. A result without room counts as lost: its
 *   entry is not released.
 * - The time when the ledger began stands in the place of the entries, so that it is lost with them, without expiry, and
 *   outside the limits. A `lease` that finds no entry is `older-than-ledger` if there is no beginning (write one then),
 *   or if `issuedAt - Math.max(0, now - yours) < beginning`, where `yours` is the time on the ledger's clock. An instance
 *   that knew a beginning, and finds none, writes one that is `CLOCK_SKEW_MS` later than now. To a later beginning that
 *   it finds, it adds the same, once, and stores that it was added. A known entry is answered as it is.
 * - A ledger in memory ends with its process and needs no beginning: leave out `lose`.
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
 *     another: async (limits) => (limits ? new MemoryLedger({ limits, now }) : ledger),
 *     lapse: async () => {
 *       passed += 2000;
 *     },
 *   };
 * });
 */
export function ledgerContract(name: string, make: Make): void {
  describe(`the ledger on ${name}`, () => {
    it('gives exactly one of many concurrent requests, on several instances, the first place', async () => {
      const { one, two, another, id } = await start(make);
      const decisions = await Promise.all(
        [one, two, await another()].flatMap((ledger) => Array.from({ length: 10 }, () => decide(ledger, id))),
      );
      expect(decisions.filter(({ kind }) => kind === 'first')).toHaveLength(1);
      expect(decisions.filter(({ kind }) => kind === 'in-flight')).toHaveLength(29);
    });

    it('answers in-flight until the lease on a token ends, and lost from then on', async () => {
      const { one, two, lapse, id } = await start(make);
      await expectFirst(one, id, { leaseSeconds: 1 });
      await expectInFlight(two, id, { leaseSeconds: 1 });
      await lapse(id);
      await expectLost(two, id, { leaseSeconds: 1 });
      await expectLost(two, id, { leaseSeconds: 1 });
    });

    it('keeps tokens apart, also with special characters in their ids', async () => {
      const ledger = await open(make);
      const ids = ['__proto__', "'; DROP TABLE mrtr_ledger; --", '*', randomUUID(), 'a b', 'ä'];
      const fresh = ids.map((id) => `${id}${randomUUID()}`);
      for (const id of fresh) await expectFirst(ledger, id);
      for (const id of fresh) await expectInFlight(ledger, id);
    });

    it('gives back the place of a released token, of its principal too', async () => {
      const ledger = await open(make, limitsOfOne(1));
      const [ada, id] = [randomUUID(), randomUUID()];
      const lease = await takeLease(ledger, leaseRequest(id, { pseudonym: ada }));
      const second = randomUUID();
      await expectFull(ledger, second, { pseudonym: ada });
      await ledger.release(id, lease);
      await expectFirst(ledger, second, { pseudonym: ada });
    });

    it('gives the token of a released lease a new one, to which the released one does nothing', async () => {
      const { one, two, id } = await start(make);
      const stale = await takeLease(one, leaseRequest(id));
      await one.release(id, stale);
      const lease = await takeLease(two, leaseRequest(id));
      expect(lease).not.toBe(stale);
      await one.settle(id, stale, 'stale');
      await one.release(id, stale);
      await expectInFlight(one, id);
      await two.settle(id, lease, 'done');
      expect(await decide(one, id)).toMatchObject({ kind: 'settled', result: 'done' });
    });

    it('lets a lease that it never gave do nothing', async () => {
      const { one: ledger, id } = await start(make);
      await takeLease(ledger, leaseRequest(id));
      for (const unknown of [randomUUID(), '']) {
        await ledger.settle(id, unknown, 'unknown');
        await ledger.release(id, unknown);
        await expectInFlight(ledger, id);
      }
      const never = randomUUID();
      await ledger.settle(never, randomUUID(), 'unknown');
      await ledger.release(never, randomUUID());
      await expectFirst(ledger, never);
    });

    it('keeps an entry whose lease ended, until its own lease is released', async () => {
      const { one: ledger, lapse, id } = await start(make);
      const lease = await takeLease(ledger, leaseRequest(id, { leaseSeconds: 1 }));
      await lapse(id);
      await ledger.release(id, randomUUID());
      await expectLost(ledger, id);
      await ledger.release(id, lease);
      await expectFirst(ledger, id);
    });

    it('gives a token that is released in many places at once to exactly one of the next requests', async () => {
      const { one, two, id } = await start(make);
      const lease = await takeLease(one, leaseRequest(id));
      await Promise.all([one, two, one, two].map((ledger) => ledger.release(id, lease)));
      const next = [one, two, one, two].flatMap((ledger) => [decide(ledger, id), ledger.release(id, lease)]);
      const kinds = (await Promise.all(next)).flatMap((decision) => (decision ? [decision.kind] : []));
      expect(kinds.toSorted()).toEqual(['first', 'in-flight', 'in-flight', 'in-flight']);
    });

    it('rejects a token that was issued before it began, if it outlives its process', async () => {
      const { one: ledger, lose, id } = await start(make);
      // A ledger in memory begins with its process. It must not reject every call that was open before.
      await (lose ? expectOlder : expectFirst)(ledger, id, { issuedAt: 0 });
      await (lose ? expectFirst : expectInFlight)(ledger, id);
    });

    it('answers what it knows of a token, and records its result, however old the token and its lease are', async () => {
      const { one: ledger, lapse, id } = await start(make);
      const lease = await takeLease(ledger, leaseRequest(id, { leaseSeconds: 1 }));
      const old = { issuedAt: 0 };
      await expectInFlight(ledger, id, old);
      await lapse(id);
      await expectLost(ledger, id, old);
      await ledger.settle(id, lease, 'done');
      expect(await decide(ledger, id, old)).toEqual({ kind: 'settled', result: 'done', answers: 'yes' });
    });

    it('makes no token usable again when it loses its entries', async ({ skip }) => {
      const { one, two, another, lose, id } = await start(make);
      if (!lose) return skip('the ledger ends with its process');
      const token = leaseRequest(id);
      await one.settle(id, await takeLease(one, token), 'done');
      expect(await two.lease(token)).toMatchObject({ kind: 'settled' });
      await lose();
      await Promise.all([one, two, one, two].map((ledger) => expectOlder(ledger, id, token)));
      // A server whose clock is ahead by half a minute may have issued this token before the loss.
      const ahead = { issuedAt: Date.now() + 30_000, expiresAt: Date.now() + 120_000 };
      await expectOlder(one, randomUUID(), ahead);
      // A new process did not know the entries that were lost.
      await expectOlder(await another(), id, token);
    });

    it('adds the clock skew once, also where a new process begins first after a loss', async ({ skip }) => {
      const { one, two, another, lose } = await start(make);
      if (!lose) return skip('the ledger ends with its process');
      for (const ledger of [one, two]) await decide(ledger, randomUUID());
      // Within a millisecond, the new beginning would be the time of the lost one. No database restarts so fast.
      for (const began = Date.now(); Date.now() === began; );
      await lose();
      const fresh = await another();
      await decide(fresh, randomUUID()); // It begins, and knows of no loss.
      const ahead = (ms: number) => ({ issuedAt: Date.now() + ms, expiresAt: Date.now() + 120_000 });
      // A server whose clock is ahead by half a minute may have issued these tokens before the loss.
      for (const ledger of [one, two, fresh]) await expectOlder(ledger, randomUUID(), ahead(30_000));
      for (const ledger of [one, two, fresh]) await expectFirst(ledger, randomUUID(), ahead(62_000));
    });

    it('subtracts what the clock of a server is ahead from the time of issue', async ({ skip }) => {
      const { another, lose } = await make();
      if (!lose) return skip('the ledger ends with its process');
      await lose();
      const ledger = await another();
      await decide(ledger, randomUUID()); // From now on, the ledger has a beginning.
      const ahead = (ms: number) => ({ issuedAt: Date.now() + ms, now: Date.now() + 30_000 });
      // By the ledger's clock, the first was issued some twenty seconds ago, before the ledger began.
      await expectOlder(ledger, randomUUID(), ahead(10_000));
      await expectFirst(ledger, randomUUID(), ahead(31_000));
      // A clock that is behind proves nothing: another server may have issued the token.
      const behind = { issuedAt: Date.now() - 10_000, now: Date.now() - 30_000 };
      await expectOlder(ledger, randomUUID(), behind);
    });

    it('gives no lease on a token that has expired by its own clock', async () => {
      const ledger = await open(make);
      expect(await decide(ledger, randomUUID(), { expiresAt: Date.now() - 5000 })).toEqual({
        kind: 'expired',
      });
    });

    it.each([-700_000, 700_000])(
      'rejects a server whose clock is %i ms off, and returns the difference',
      async (off) => {
        const ledger = await open(make);
        const decision = await decide(ledger, randomUUID(), { now: Date.now() + off });
        if (decision.kind !== 'clock-differs') throw new Error(`The ledger answered ${decision.kind}.`);
        expect(Math.abs(decision.byMs - off)).toBeLessThan(30_000);
      },
    );

    it('limits the tokens of one principal, and still has room for others', async () => {
      const ledger = await open(make, limitsOfOne(2));
      const [ada, bob] = [randomUUID(), randomUUID()];
      for (let n = 0; n < 2; n++) await decide(ledger, randomUUID(), { pseudonym: ada });
      await expectFull(ledger, randomUUID(), { pseudonym: ada });
      await expectFirst(ledger, randomUUID(), { pseudonym: bob });
    });

    it('keeps a limited number of bytes of one principal’s results; a result without room counts as lost', async () => {
      const ledger = await open(make, { bytes: 1_000_000, perPrincipal: 0.001 });
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
        kinds.push((await decide(ledger, id, { pseudonym })).kind);
      }
      expect(kinds).toEqual(['settled', 'lost', 'settled', 'lost', 'settled']);
    });

    it('gives every instance the settled result, character by character', async () => {
      const { one, two, id } = await start(make);
      const result = JSON.stringify({ text: 'ünïcode \u{1f600} \u0000 "quotes"', long: 'x'.repeat(100_000) });
      await one.settle(id, await takeLease(one, leaseRequest(id)), result);
      expect(await decide(two, id)).toEqual({ kind: 'settled', result, answers: 'yes' });
      expect(await decide(one, id)).toEqual({ kind: 'settled', result, answers: 'yes' });
    });

    it('keeps the first result and the first answers after later results, releases and answers', async () => {
      const { one, two, id } = await start(make);
      const lease = await takeLease(one, leaseRequest(id, { answers: 'yes' }));
      await one.settle(id, lease, 'first');
      await two.settle(id, lease, 'second');
      await one.release(id, lease);
      const again = leaseRequest(id, { answers: 'no' });
      expect(await two.lease(again)).toEqual({ kind: 'settled', result: 'first', answers: 'yes' });
    });
  });
}
