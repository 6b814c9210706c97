import { textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { awaitShim } from '../../demos/option-b-await/await-shim.ts';
import {
  countRuns,
  metric,
  TestDeployment,
  tool,
  Units,
} from '../../packages/shapes/src/fixture.test-support.ts';
import { loadShape, shapeContract } from './shape-contract.test-support.ts';

const FORMS = 'it asks with forms only';
const ONE_BY_ONE = 'each question takes a round, because the first one unwinds the handler';

const shape = await loadShape('b', { name: 'await-shim' });

shapeContract(shape, {
  'a client that cannot be asked is rejected before any effect, in each era and in each round':
    'nobody knows its questions before it asks them',
  'a page to open is asked as a form is, and only of clients that open pages': FORMS,
  'an approval counts, and its receipt stays the same in later rounds': FORMS,
  'a question under the key `__proto__` is rejected before it goes out':
    'it names a question after the fields of its form',
  'an old client that the policy does not ask gets an error that says why':
    'it asks by itself and ignores the policy',
  'several questions of one round may be answered one by one': ONE_BY_ONE,
  'a handler asks the client’s model and for its roots as it asks the user': 'it asks the user only',
});

// What follows pins hazards of shape B, and no features.

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

test('a handler that returns with an unread question ends with an error', async () => {
  const callback = awaitShim((_args, ctx) => {
    ctx.elicit('Really pay?', Units);
    return textResult('Paid.');
  });
  expect(await (await new TestDeployment(tool(callback)).connect()).send()).toEqual({
    fails:
      "No code waits for the answer to the question 'Really pay?', so the handler has returned. Await the question.",
  });
});
