/** Most of these tests pin a hazard of shape B, and not a feature. */

import { textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { countRuns, metric, Site, tool, Units } from '../fixture.test-support.ts';
import { awaitShim } from './await-shim.ts';

test('a catch block in the handler swallows the question', async () => {
  const caught: string[] = [];
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        try {
          return textResult((await ctx.elicit('Which units?', Units)).units);
        } catch (error) {
          caught.push((error as Error).message);
          return textResult('metric, I guess');
        }
      }),
    ),
  );
  expect(await (await site.connect(() => metric)).call()).toEqual({ says: 'metric, I guess' });
  expect(caught).toEqual([
    'Unwinding to ask the user. If you read this in a log, a catch block swallowed a question.',
  ]);
});

test('a finally block runs in every round, although nothing failed', async () => {
  const cleanUp = countRuns(() => {});
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        try {
          return textResult((await ctx.elicit('Which units?', Units)).units);
        } finally {
          cleanUp();
        }
      }),
    ),
  );
  expect(await (await site.connect(() => metric)).call()).toEqual({ says: 'metric' });
  expect(cleanUp.runs).toBe(2);
});
