/** Runs that reach their limit: they end, send nothing more, and the remaining checks say why. */
import { CHECKS, run } from '@mrtr/check';
import { expect, test } from 'vitest';
import { checkBare, EVERYTHING } from './bare.test-support.ts';
import { serving } from './posted.test-support.ts';

const LIMIT = 'the run reached its limit of 1 s before this was decided (--max-time)';

test('a server that never answers holds a run no longer than its limit', async () => {
  const limits = { timeoutSeconds: 600, mostSeconds: 1 };
  const ask = (url: string) => run({ ...EVERYTHING, address: { url, headers: {} }, ...limits });
  const { checks } = await serving(() => undefined, ask);
  expect(checks.map(({ verdict }) => verdict)).toEqual(CHECKS.map(() => 'could-not-run'));
  expect(new Set(checks.map(({ actual }) => actual))).toEqual(new Set([LIMIT]));
});

test.concurrent.each(['http', 'stdio'] as const)(
  'a wait over %s ends at the limit, and what was decided before stays',
  async (transport) => {
    const inputs = { ttlSeconds: 14, mostSeconds: 15 };
    const only = ['state.dropped', 'state.expired', 'wire'];
    const { checks } = await checkBare({ only, transport, inputs });
    const verdicts = Object.fromEntries(checks.map(({ id, verdict }) => [id, verdict]));
    expect(verdicts).toMatchObject({
      'state.dropped': 'pass',
      'state.expired': 'could-not-run',
      'wire.shape': 'could-not-run',
    });
    expect(checks.find(({ id }) => id === 'state.expired')?.actual).toBe(LIMIT.replace('1 s', '15 s'));
  },
);
