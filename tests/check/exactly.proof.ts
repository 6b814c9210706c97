/**
 * Every fault with every check: exactly the expected findings, all others silent. It takes some minutes, so it runs on
 * demand: `MRTR_CHECK_EXACTLY=1 npx vitest run --project tests tests/check/exactly.test.ts`. The families' own tests
 * run with every change.
 */
import { CHECKS } from '@mrtr/check';
import { describe, expect, it } from 'vitest';
import { checkBare, findings } from './bare.test-support.ts';
import { FAULTS } from './faults.ts';

describe.runIf(process.env.MRTR_CHECK_EXACTLY)('every check on every faulty server', () => {
  for (const { id, found, inputs, args } of FAULTS)
    it(`the fault of ${id}`, async ({ expect }) => {
      const run = await checkBare({ fault: id, ...(inputs && { inputs }), ...(args && { args }) });
      expect(findings(run)).toEqual(found);
    }, 60_000);
});

const PROMPT = { kind: 'prompt', name: 'transfer', arguments: { to: 'bob', amount: 5 } } as const;

describe.runIf(process.env.MRTR_CHECK_EXACTLY)('every check alone, where its honest calls fail', () => {
  it.each(CHECKS.map(({ id }) => id))('%s could not run', async (id) => {
    const inputs = { ttlSeconds: 0, ...(id === 'state.other-method' && { otherOperation: PROMPT }) };
    // Two honest calls of three requests each, and then every call is an isError result.
    const run = await checkBare({ only: [id], args: ['--calls-until-broken', '6'], inputs });
    expect(run.checked.map(({ verdict }) => verdict)).toEqual(['could-not-run']);
  });
});
