/** What every ledger has to do, whatever it keeps its entries in. */
import { randomUUID } from 'node:crypto';
import type { StateLedger } from '@mrtr/core';
import { describe, expect, it } from 'vitest';

/** A ledger under test. */
export interface LedgerUnderTest {
  /** Another instance on the same entries, as a second replica would have. */
  another(): Promise<StateLedger>;
  /** Moves the end of an entry's lease into the past, as if its time had gone by. */
  lapse(id: string): Promise<void>;
}

const inAMinute = () => Math.ceil(Date.now() / 1000) + 60;

/** Runs the contract against what `make` makes. */
export function ledgerContract(name: string, make: () => Promise<LedgerUnderTest>): void {
  describe(`the ledger on ${name}`, () => {
    it('gives exactly one of many concurrent claims, on several instances, the first place', async () => {
      const { another } = await make();
      const [one, two, three] = await Promise.all([another(), another(), another()]);
      const id = randomUUID();
      const claims = await Promise.all(
        [one, two, three].flatMap((ledger) =>
          Array.from({ length: 10 }, () => (ledger as StateLedger).claim(id, inAMinute(), 30)),
        ),
      );
      expect(claims.filter(({ kind }) => kind === 'first')).toHaveLength(1);
      expect(claims.filter(({ kind }) => kind === 'in-flight')).toHaveLength(29);
    });

    it('returns the settled result, to every instance, as it was given', async () => {
      const { another } = await make();
      const [one, two] = [await another(), await another()];
      const id = randomUUID();
      const result = JSON.stringify({ text: 'ünïcode \u{1f600} \u0000 "quotes"', long: 'x'.repeat(100_000) });
      expect(await one.claim(id, inAMinute(), 30)).toEqual({ kind: 'first' });
      await one.settle(id, result);
      expect(await two.claim(id, inAMinute(), 30)).toEqual({ kind: 'settled', result });
      expect(await one.claim(id, inAMinute(), 30)).toEqual({ kind: 'settled', result });
    });

    it('keeps a claim whose claimant went away in flight until its lease lapses, and never gives it out again', async () => {
      const { another, lapse } = await make();
      const [one, two] = [await another(), await another()];
      const id = randomUUID();
      expect(await one.claim(id, inAMinute(), 1)).toEqual({ kind: 'first' });
      expect(await two.claim(id, inAMinute(), 1)).toEqual({ kind: 'in-flight' });
      await lapse(id);
      expect(await two.claim(id, inAMinute(), 1)).toEqual({ kind: 'lost' });
      expect(await two.claim(id, inAMinute(), 1)).toEqual({ kind: 'lost' });
    });

    it('takes the result of a claimant that was slower than its lease', async () => {
      const { another, lapse } = await make();
      const ledger = await another();
      const id = randomUUID();
      await ledger.claim(id, inAMinute(), 1);
      await lapse(id);
      await ledger.settle(id, 'late');
      expect(await ledger.claim(id, inAMinute(), 1)).toEqual({ kind: 'settled', result: 'late' });
    });

    it('does not bring back to life what it never claimed', async () => {
      const { another } = await make();
      const ledger = await another();
      const id = randomUUID();
      await ledger.settle(id, 'unasked');
      expect(await ledger.claim(id, inAMinute(), 30)).toEqual({ kind: 'first' });
    });

    it('tells tokens apart whatever their ids look like', async () => {
      const { another } = await make();
      const ledger = await another();
      const ids = ['__proto__', "'; DROP TABLE mrtr_ledger; --", '*', randomUUID(), 'a b', 'ä'];
      const fresh = ids.map((id) => `${id}${randomUUID()}`);
      for (const id of fresh) expect(await ledger.claim(id, inAMinute(), 30)).toEqual({ kind: 'first' });
      for (const id of fresh) expect(await ledger.claim(id, inAMinute(), 30)).toEqual({ kind: 'in-flight' });
    });
  });
}
