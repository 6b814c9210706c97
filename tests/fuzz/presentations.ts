/** The property of single use: of any number of presentations of a state, one is served. */
import { isDeepStrictEqual } from 'node:util';
import { MemoryLedger } from '@mrtr/core';
import fc from 'fast-check';
import { REJECTED } from '../testkit/rejected.ts';
import { clock, keeping, policyOf, type Site, type SiteRequest, siteWith } from './sites.ts';
import { onTheWire } from './tokens.ts';

/**
 * One presentation: which call's state, where, when (a lease is 300 seconds), and whether the next presentation waits
 * for its end.
 */
const presentations = fc.array(
  fc.record({
    call: fc.nat(2),
    instance: fc.nat(1),
    waits: fc.boolean(),
    elapsed: fc.constantFrom(0, 0, 1, 299),
  }),
  { minLength: 1, maxLength: 6 },
);

/** Makes two instances of one deployment. */
export type BuildPair = (second: 'reject' | 'replay') => readonly [Site, Site];

const buildPair: BuildPair = (singleUse) => {
  const ledger = new MemoryLedger({ now: () => clock.now });
  const policy = policyOf({ keys: ['k'.repeat(32)], singleUse, ledger });
  return [siteWith(policy, 'shop'), siteWith(policy, 'shop')];
};

/** Presents the states of three calls any number of times, anywhere and in any order. */
export function onlyOneIsServed(build: BuildPair = buildPair) {
  const began = clock.now;
  return fc.asyncProperty(
    fc.constantFrom('reject', 'replay'),
    presentations,
    fc.constantFrom('result', 'error'),
    async (second, order, ends) => {
      clock.now = began;
      const sites = build(second);
      const calls: SiteRequest[] = [];
      for (const target of ['a', 'b', 'c']) {
        const request = { method: 'tools/call', target } as const;
        const { state } = await asked(sites[0], request);
        calls.push({ ...request, state });
      }
      const served = [0, 0, 0];
      const came: Promise<readonly [call: number, outcome: unknown]>[] = [];
      for (const { call, instance, waits, elapsed } of order) {
        clock.now = Math.max(clock.now, began + elapsed * 1000);
        const outcome = (sites[instance] as Site)
          .request(calls[call] as SiteRequest, async () => {
            served[call] = (served[call] ?? 0) + 1;
            await new Promise(setImmediate);
            if (ends === 'error') throw new RangeError('The author fails.');
            return { content: [{ type: 'text', text: `effect ${served[call]}` }] };
          })
          .catch(onTheWire)
          .then((end) => [call, end] as const);
        came.push(outcome);
        if (waits) await outcome;
      }
      const ended = await Promise.all(came);
      for (const site of sites) site.log();
      if (served.some((times) => times > 1)) throw new Error(`Calls are served ${served.join(', ')} times.`);
      if (ends === 'result') for (const [, end] of ended) expectOnly(end, second);
    },
  );
}

function expectOnly(end: unknown, second: 'reject' | 'replay'): void {
  const served = isDeepStrictEqual(end, { content: [{ type: 'text', text: 'effect 1' }] });
  if (served || (second === 'reject' && isDeepStrictEqual(end, REJECTED))) return;
  throw new Error(`A presentation ends with ${JSON.stringify(end)}.`);
}

async function asked(site: Site, request: SiteRequest): Promise<{ state: string }> {
  const result = await site.request(request, keeping('kept'));
  return { state: (result as { requestState: string }).requestState };
}
