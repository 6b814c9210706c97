/** Most of these tests pin a hazard of shape B, and not a feature. */

import { textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { countRuns, metric, TestDeployment, tool, Units } from '../fixture.test-support.ts';
import { awaitShim } from './await-shim.ts';

/** A handler that asks within `around`, and the result of its call. */
async function callAround(around: (ask: () => Promise<string>) => Promise<string>) {
  const asking = awaitShim(async (_args, { elicit }) =>
    textResult(await around(async () => (await elicit('Which units?', Units)).units)),
  );
  return (await new TestDeployment(tool(asking)).connect(() => metric)).call();
}

test('a catch block in the handler swallows the question', async () => {
  const caught: string[] = [];
  const swallow = async (ask: () => Promise<string>) => {
    try {
      return await ask();
    } catch (error) {
      caught.push((error as Error).message);
      return 'metric, I guess';
    }
  };
  expect(await callAround(swallow)).toEqual({ says: 'metric, I guess' });
  expect(caught).toEqual([
    'Unwinding to ask the user. If you read this in a log, a catch block swallowed a question.',
  ]);
});

test('a finally block runs in every round, although nothing failed', async () => {
  const cleanUp = countRuns(() => {});
  expect(await callAround((ask) => ask().finally(cleanUp))).toEqual({ says: 'metric' });
  expect(cleanUp.runs).toBe(2);
});
