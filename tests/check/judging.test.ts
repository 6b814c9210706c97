/** Servers with several ordinary mistakes at once: each finding names its own mistake, and says it rightly. */
import { expect, it } from 'vitest';
import { checkBare, findings } from './bare.test-support.ts';

const wordsOf = (one: Awaited<ReturnType<typeof checkBare>>): string =>
  one.checked.map(({ check, finding }) => `${check.id}: ${finding.actual}`).join('\n');

it('a second effect is found and counted where a call has another effect before its question', async () => {
  const only = ['retry', 'instance.replay-elsewhere'];
  const one = await checkBare({ fault: 'retry.twice', args: ['--audits'], only });
  expect(findings(one)).toEqual({
    'retry.twice': 'fail',
    'retry.concurrent': 'fail',
    'retry.lost-response': 'fail',
    'instance.replay-elsewhere': 'fail',
  });
  expect(wordsOf(one).match(/\d+ effects for one approval/g)).toEqual([
    '2 effects for one approval',
    '10 effects for one approval',
    '2 effects for one approval',
    '2 effects for one approval',
  ]);
});
