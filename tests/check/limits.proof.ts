/** Runs that reach their limit: they end, send nothing more, and the remaining checks say why. */
import { CHECKS, run } from '@mrtr/check';
import { expect, test } from 'vitest';
import { checkBare, EVERYTHING } from './bare.test-support.ts';
import { serving } from './posted.test-support.ts';

const LIMIT = 'the run reached its limit of 1 s before this was decided (--max-time)';

test('a server that never answers holds a run no longer than its limit', async () => {
  const limits = { timeoutSeconds: 600, mostSeconds: 1 };
  const ask = (url: string) => run({ ...EVERYTHING, address: { url, headers: {} }, ...limits });
  const { checked } = await serving(() => undefined, ask);
  expect(checked.map(({ verdict }) => verdict)).toEqual(CHECKS.map(() => 'could-not-run'));
  expect(new Set(checked.map(({ finding }) => finding.actual))).toEqual(new Set([LIMIT]));
});

test.concurrent.each(['http', 'stdio'] as const)(
  'a wait over %s ends at the limit, and what was decided before stays',
  async (transport) => {
    const inputs = { ttlSeconds: 14, mostSeconds: 15 };
    const only = ['state.dropped', 'state.expired', 'wire'];
    const { checked } = await checkBare({ only, transport, inputs });
    const verdicts = Object.fromEntries(checked.map(({ check, verdict }) => [check.id, verdict]));
    expect(verdicts).toMatchObject({
      'state.dropped': 'pass',
      'state.expired': 'could-not-run',
      'wire.shape': 'could-not-run',
    });
    expect(checked.find(({ check }) => check.id === 'state.expired')?.finding.actual).toBe(
      LIMIT.replace('1 s', '15 s'),
    );
  },
);
