/** The `locate` hook of shape H, with which a router sends retries to the instance that holds the frame. */

import { textResult } from '@mrtr/core';
import { settle } from '@mrtr/harness/internal';
import { expect, onTestFinished, test } from 'vitest';
import {
  ada,
  countRuns,
  metric,
  Name,
  type RoundSummary,
  TestDeployment,
  tool,
  Units,
} from '../fixture.test-support.ts';
import { ContinuationStore, type ContinuationStoreOptions, linear } from './index.ts';

/** One instance of a deployment: same key, same tool, its own frames. */
function instance(locate?: ContinuationStoreOptions['locate'], onEnd = () => {}) {
  const store = new ContinuationStore({ locate });
  onTestFinished(() => store.close());
  const callback = linear(
    async (_args: unknown, ctx) => {
      try {
        const { units } = await ctx.elicit('Which units?', Units);
        const { name } = await ctx.elicit('Which name?', Name);
        return textResult(`${name}: ${units}`);
      } finally {
        onEnd();
      }
    },
    { store },
  );
  return { store, site: new TestDeployment(tool(callback)) };
}

const labelOf = ({ state }: RoundSummary) => /^v1\.[\w-]+(?:~(.+))?$/.exec(state ?? '')?.[1];

test('every state of a call carries the label that its instance has then, and the result carries none', async () => {
  const locate = countRuns((run) => `name-${run}`);
  const client = await instance(locate).site.connect();
  const first = await client.send();
  const second = await client.answer(first, { units: metric });
  expect([labelOf(first), labelOf(second), locate.runs]).toEqual(['name-1', 'name-2', 2]);
  expect(await client.answer(second, { name: ada })).toEqual({ says: 'Ada: metric' });
  expect(locate.runs).toBe(2);
});

test.each<[what: string, locate: () => string]>([
  [
    'throws',
    () => {
      throw new Error('No name yet.');
    },
  ],
  ['returns an invalid label', () => 'two words'],
])('a hook that %s fails the call, and its frame is not kept', async (_what, locate) => {
  const ended = countRuns(() => {});
  const { site, store } = instance(locate, ended);
  expect(await (await site.connect()).send()).not.toMatchObject({ asks: {} });
  await settle();
  expect([store.parked, ended.runs]).toEqual([0, 1]);
});
