/** The tests of one family of checks: each fault is found, and on the right server nothing is. */
import { CHECKS } from '@mrtr/check';
import { describe, expect, it } from 'vitest';
import { checkBare, findings, verdicts } from './bare.test-support.ts';
import { FAULTS } from './faults.ts';

/**
 * Each check of a family on the server with its fault, together with the rest of the family: exactly the expected ids.
 * `exactly.test.ts` does the same with all checks, which takes minutes.
 *
 * @param without checks of the family that are left out, as they take long and are proven elsewhere
 */
export function describeFamily(family: string, without: readonly string[] = []): void {
  const ofFamily = CHECKS.map(({ id }) => id).filter(
    (id) => id.startsWith(`${family}.`) && !without.includes(id),
  );
  describeChecks(family, ofFamily, ofFamily);
}

/** Each of `ids` on the server with its fault, together with all of `only`. */
export function describeChecks(name: string, ids: readonly string[], only: readonly string[]): void {
  describe(name, () => {
    for (const { id, found, inputs, args } of FAULTS.filter((fault) => ids.includes(fault.id)))
      it.concurrent(`the fault of ${id} is found, and nothing else of ${name} is`, async ({ expect }) => {
        const expected = Object.entries(found).filter(([one]) => only.includes(one));
        const run = await checkBare({ fault: id, only, ...(inputs && { inputs }), ...(args && { args }) });
        expect(findings(run)).toEqual(Object.fromEntries(expected));
      }, 30_000);

    it('the right server passes', async () => {
      const run = await checkBare({ only });
      expect(findings(run)).toEqual({});
      expect(Object.keys(verdicts(run, 'pass')).length).toBeGreaterThan(0);
    }, 30_000);
  });
}
