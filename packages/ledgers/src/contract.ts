/**
 * `@mrtr/ledgers/contract`: the vitest tests that every ledger has to pass. Run them on your own ledger, against the
 * database that it will use.
 */
import { randomUUID } from 'node:crypto';
import type { Presented, StateLedger } from '@mrtr/core';
import { describe, expect, it } from 'vitest';

export {
  type InteractionLimits,
  type InteractionsUnderTest,
  interactionsContract,
} from './interactions-contract.ts';

/** The limits of one principal in a ledger. */
export interface LedgerLimits {
  /** Tokens remembered at once. */
  readonly maxEntriesPerPrincipal?: number;
  /** Bytes of recorded results. */
  readonly maxBytesPerPrincipal?: number;
}

/** A ledger under test: the entries that its instances share. */
export interface LedgerUnderTest {
  /**
   * Another instance of the ledger on the same entries, as a second replica of a server would have.
   *
   * @param limits the limits of one principal. Default: the ledger's own.
   */
  another(limits?: LedgerLimits): Promise<StateLedger>;
  /** Moves the end of an entry's lease into the past, as if that time had passed. */
  lapse(id: string): Promise<void>;
}

const presented = (id: string, of: Partial<Presented> = {}): Presented => ({
  id,
  answers: 'yes',
  expiresAt: Date.now() + 60_000,
  leaseSeconds: 30,
  principal: undefined,
  now: Date.now(),
  ...of,
});

/**
 * Defines the contract's tests in their own `describe`. Call it at the top of a vitest file, or in a `describe`.
 *
 * @param name names the ledger's storage; it is part of the tests' names.
 * @param make gives each test a ledger. Tests use random ids, so they may share their entries.
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
    limits(make);
    results(make);
  });
}

type Make = () => Promise<LedgerUnderTest>;

function decisions(make: Make): void {
  it('gives exactly one of many concurrent claims, on several instances, the first place', async () => {
    const { another } = await make();
    const [one, two, three] = await Promise.all([another(), another(), another()]);
    const id = randomUUID();
    const claims = await Promise.all(
      [one, two, three].flatMap((ledger) =>
        Array.from({ length: 10 }, () => (ledger as StateLedger).claim(presented(id))),
      ),
    );
    expect(claims.filter(({ kind }) => kind === 'first')).toHaveLength(1);
    expect(claims.filter(({ kind }) => kind === 'in-flight')).toHaveLength(29);
  });

  it('answers in-flight until the lease on a token ends, and lost from then on', async () => {
    const { another, lapse } = await make();
    const [one, two] = [await another(), await another()];
    const id = randomUUID();
    expect(await one.claim(presented(id, { leaseSeconds: 1 }))).toEqual({ kind: 'first' });
    expect(await two.claim(presented(id, { leaseSeconds: 1 }))).toEqual({ kind: 'in-flight' });
    await lapse(id);
    expect(await two.claim(presented(id, { leaseSeconds: 1 }))).toEqual({ kind: 'lost' });
    expect(await two.claim(presented(id, { leaseSeconds: 1 }))).toEqual({ kind: 'lost' });
  });

  it('ignores the result of a token that was never claimed', async () => {
    const { another } = await make();
    const ledger = await another();
    const id = randomUUID();
    await ledger.settle(id, 'unasked');
    expect(await ledger.claim(presented(id))).toEqual({ kind: 'first' });
  });

  it('keeps tokens apart, also with special characters in their ids', async () => {
    const { another } = await make();
    const ledger = await another();
    const ids = ['__proto__', "'; DROP TABLE mrtr_ledger; --", '*', randomUUID(), 'a b', 'ä'];
    const fresh = ids.map((id) => `${id}${randomUUID()}`);
    for (const id of fresh) expect(await ledger.claim(presented(id))).toEqual({ kind: 'first' });
    for (const id of fresh) expect(await ledger.claim(presented(id))).toEqual({ kind: 'in-flight' });
  });
}

function limits(make: Make): void {
  it('gives no lease on a token that has expired by its own clock', async () => {
    const ledger = await (await make()).another();
    const expired = presented(randomUUID(), { expiresAt: Date.now() - 5000 });
    expect(await ledger.claim(expired)).toEqual({ kind: 'expired' });
  });

  it.each([-700_000, 700_000])(
    'refuses a server whose clock is %i ms off, and returns the difference',
    async (off) => {
      const ledger = await (await make()).another();
      const claim = await ledger.claim(presented(randomUUID(), { now: Date.now() + off }));
      if (claim.kind !== 'clock-differs') throw new Error(`The ledger answered ${claim.kind}.`);
      expect(Math.abs(claim.byMs - off)).toBeLessThan(30_000);
    },
  );

  it('limits the tokens of one principal, and still has room for others', async () => {
    const ledger = await (await make()).another({ maxEntriesPerPrincipal: 2 });
    const [ada, bob] = [randomUUID(), randomUUID()];
    for (let n = 0; n < 2; n++) await ledger.claim(presented(randomUUID(), { principal: ada }));
    const third = ledger.claim(presented(randomUUID(), { principal: ada }));
    await expect(third).rejects.toMatchObject({ code: 'store_full' });
    expect(await ledger.claim(presented(randomUUID(), { principal: bob }))).toEqual({ kind: 'first' });
  });

  it('keeps a limited number of bytes of one principal’s results; a result without room counts as lost', async () => {
    const ledger = await (await make()).another({ maxBytesPerPrincipal: 1000 });
    const [ada, bob] = [randomUUID(), randomUUID()];
    const kinds: string[] = [];
    for (const [principal, bytes] of [
      [ada, 600],
      [ada, 401],
      [ada, 400],
      [ada, 1],
      [bob, 1000],
    ] as const) {
      const id = randomUUID();
      await ledger.claim(presented(id, { principal }));
      await ledger.settle(id, 'x'.repeat(bytes));
      kinds.push((await ledger.claim(presented(id, { principal }))).kind);
    }
    expect(kinds).toEqual(['settled', 'lost', 'settled', 'lost', 'settled']);
  });
}

function results(make: Make): void {
  it('gives every instance the settled result, character by character', async () => {
    const { another } = await make();
    const [one, two] = [await another(), await another()];
    const id = randomUUID();
    const result = JSON.stringify({ text: 'ünïcode \u{1f600} \u0000 "quotes"', long: 'x'.repeat(100_000) });
    expect(await one.claim(presented(id))).toEqual({ kind: 'first' });
    await one.settle(id, result);
    expect(await two.claim(presented(id))).toEqual({ kind: 'settled', result, answers: 'yes' });
    expect(await one.claim(presented(id))).toEqual({ kind: 'settled', result, answers: 'yes' });
  });

  it('records a result also after its lease has ended', async () => {
    const { another, lapse } = await make();
    const ledger = await another();
    const id = randomUUID();
    await ledger.claim(presented(id, { leaseSeconds: 1 }));
    await lapse(id);
    await ledger.settle(id, 'late');
    expect(await ledger.claim(presented(id, { leaseSeconds: 1 }))).toEqual({
      kind: 'settled',
      result: 'late',
      answers: 'yes',
    });
  });

  it('keeps the answers of the first presentation, also if the second brings others', async () => {
    const ledger = await (await make()).another();
    const id = randomUUID();
    await ledger.claim(presented(id, { answers: 'yes' }));
    await ledger.settle(id, 'done');
    const second = await ledger.claim(presented(id, { answers: 'no' }));
    expect(second).toEqual({ kind: 'settled', result: 'done', answers: 'yes' });
  });

  it('keeps the first result of a token that is settled twice', async () => {
    const { another } = await make();
    const [one, two] = [await another(), await another()];
    const id = randomUUID();
    await one.claim(presented(id));
    await one.settle(id, 'first');
    await two.settle(id, 'second');
    expect(await two.claim(presented(id))).toEqual({ kind: 'settled', result: 'first', answers: 'yes' });
  });
}
