/** The vitest tests that every store of pending interactions must pass. */
import { randomUUID } from 'node:crypto';
import type { InteractionLimits, InteractionRow, InteractionStore } from '@mrtr/pages/store';
import { describe, expect, it } from 'vitest';

/** A store under test: the interactions that its instances share. */
interface InteractionsUnderTest {
  /**
   * Another instance of the store on the same interactions, as a second replica of a server would have.
   *
   * @param limits its limits; see `interactionLimits`. Default: the store's own.
   */
  another(limits?: InteractionLimits): Promise<InteractionStore>;
  /** Moves the expiry of an interaction into the past. */
  lapse(id: string): Promise<void>;
}

const interaction = (of: Partial<InteractionRow> = {}): InteractionRow => ({
  id: randomUUID(),
  pseudonym: randomUUID(),
  value: 'begun',
  ttlSeconds: 60,
  ...of,
});

type Make = () => Promise<InteractionsUnderTest>;

/** A store with one interaction. */
async function begin(make: Make, limits?: InteractionLimits, of?: Partial<InteractionRow>) {
  const { another, lapse } = await make();
  const [store, first] = [await another(limits), interaction(of)];
  await store.add(first);
  return { store, another, lapse, first, id: first.id, pseudonym: first.pseudonym };
}

/** Limits of which one principal may have `pages` open. */
const open = (pages: number): InteractionLimits => ({ entries: 100_000, perPrincipal: pages / 100_000 });

/** Expects that one principal may open no further page. */
const expectFull = (store: InteractionStore, pseudonym: string) =>
  expect(store.add(interaction({ pseudonym }))).rejects.toMatchObject({
    code: 'store_full',
    message: expect.stringMatching(/^You have too many pages open/),
  });

/**
 * Defines the contract's tests in their own `describe`. Call it at the top of a vitest file, or in a `describe`.
 *
 * @param name names the store's storage; it is part of the tests' names.
 * @param make makes a store for each test. Tests use random ids and principals, so stores may share interactions.
 * @example
 * import { interactionsContract } from '@mrtr/ledgers/contract';
 * import { MemoryInteractions } from '@mrtr/pages';
 *
 * interactionsContract('memory', async () => {
 *   let now = 0;
 *   const store = new MemoryInteractions({ now: () => now });
 *   return {
 *     another: async (limits) => (limits ? new MemoryInteractions({ limits, now: () => now }) : store),
 *     lapse: async () => {
 *       now += 60_000;
 *     },
 *   };
 * });
 */
export function interactionsContract(name: string, make: Make): void {
  describe(`pending interactions on ${name}`, () => {
    it('gives every instance what one of them keeps, once, and nothing under another id', async () => {
      const { another } = await make();
      const [one, two] = [await another(), await another()];
      const begun = interaction({ value: 'Begun_-1' });
      expect(await one.add(begun)).toBe(true);
      expect(await two.add({ ...begun, value: 'again', pseudonym: 'another' })).toBe(false);
      expect(await two.find(begun.id)).toBe('Begun_-1');
      for (const id of [randomUUID(), '__proto__', "'; DROP TABLE mrtr_interactions; --", '*', '']) {
        expect(await two.find(id)).toBeUndefined();
      }
    });

    it('lets exactly one of many replacements of the same value through, on several instances', async () => {
      const { store, another, first } = await begin(make);
      const stores = [store, await another(), await another()];
      const values = Array.from({ length: 15 }, (_, n) => `value ${n}`);
      const replaced = await Promise.all(
        values.map((value, n) => stores[n % 3]?.replace({ ...first, value }, 'begun', false)),
      );
      expect(replaced.filter((one) => one)).toHaveLength(1);
      expect(await store.replace({ ...first, value: 'late' }, 'begun', false)).toBe(false);
    });

    it('forgets an interaction when its time is over, and does not replace it then', async () => {
      const { store, lapse, first, id } = await begin(make);
      expect(await store.replace({ ...first, value: 'started' }, 'begun', false)).toBe(true);
      await lapse(id);
      expect(await store.find(id)).toBeUndefined();
      expect(await store.replace({ ...first, value: 'finished' }, 'started', false)).toBe(false);
      expect(await store.add(first)).toBe(true);
    });

    it('has room for a limited number of interactions of one principal, and for others beside it', async () => {
      const { store, first, pseudonym } = await begin(make, open(2));
      await store.add(interaction({ pseudonym }));
      await expectFull(store, pseudonym);
      // An existing interaction takes no more room.
      expect(await store.add(first)).toBe(false);
      expect(await store.add(interaction())).toBe(true);
    });

    it('has room again when a page is over, whose value it keeps as long as it is told', async () => {
      const { store, lapse, first, id, pseudonym } = await begin(make, open(1), { ttlSeconds: 1 });
      const finished = { ...first, value: 'finished', ttlSeconds: 60 };
      expect(await store.replace(finished, 'other', true)).toBe(false);
      expect(await store.replace(finished, 'begun', true)).toBe(true);
      expect(await store.replace({ ...finished, value: 'read' }, 'finished', true)).toBe(true);
      const second = interaction({ pseudonym });
      expect(await store.add(second)).toBe(true);
      expect(await store.add(first)).toBe(false);
      await expectFull(store, pseudonym);
      expect([await store.find(id), await store.find(second.id)]).toEqual(['read', 'begun']);
      await lapse(id);
      expect(await store.find(id)).toBeUndefined();
    });

    it('gives an open page another time, and its place stays taken', async () => {
      const { store, lapse, first, id, pseudonym } = await begin(make, open(1), { ttlSeconds: 1 });
      const finishing = { ...first, value: 'finishing', ttlSeconds: 60 };
      expect(await store.replace(finishing, 'begun', false)).toBe(true);
      await expectFull(store, pseudonym);
      expect(await store.find(id)).toBe('finishing');
      await lapse(id);
      expect(await store.add(interaction({ pseudonym }))).toBe(true);
    });

    it('keeps a limited number of pages of one principal that are over', async () => {
      const { store, lapse, first, id, pseudonym } = await begin(make, open(1));
      const others = Array.from({ length: 9 }, () => interaction({ pseudonym }));
      for (const one of [first, ...others]) {
        await store.add(one);
        await store.replace({ ...one, value: 'closed' }, 'begun', true);
      }
      await expectFull(store, pseudonym);
      expect(await store.add(interaction())).toBe(true);
      await lapse(id);
      expect(await store.add(interaction({ pseudonym }))).toBe(true);
    });
  });
}
