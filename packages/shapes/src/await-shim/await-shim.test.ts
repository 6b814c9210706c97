/** Most of these tests pin a hazard of shape B, and not a feature. */

import { ElicitationDeclined, textResult } from '@mrtr/core';
import { settle } from '@mrtr/harness';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  accept,
  ada,
  cancel,
  countRuns,
  decline,
  kelvin,
  metric,
  Name,
  Site,
  tool,
  Units,
} from '../fixture.test-support.ts';
import { awaitShim } from './await-shim.ts';

const user = (message: string) => (message === 'Which units?' ? metric : ada);

/** Asks for units, then for a name. Calls `above` before, between and after the questions. */
const interview = (above: (line: string) => unknown) =>
  tool(
    awaitShim(async (_args, ctx) => {
      above('first line');
      const { units } = await ctx.elicit('Which units?', Units);
      above('second line');
      const { name } = await ctx.elicit('Which name?', Name);
      above('third line');
      return textResult(`${units}, ${name}`);
    }),
  );

test('the handler runs again from its first line in every round', async () => {
  const lines: string[] = [];
  const site = new Site(interview((line) => lines.push(line)));
  expect(await (await site.connect(user)).call()).toEqual({ says: 'metric, Ada' });
  expect(lines).toEqual([
    'first line',
    ...['first line', 'second line'],
    ...['first line', 'second line', 'third line'],
  ]);
});

test('for an old client the call really waits, so everything runs once', async () => {
  const lines: string[] = [];
  const site = new Site(interview((line) => lines.push(line)));
  const client = await site.connectLegacy((message) =>
    client.questions.length === 1 ? kelvin : user(message),
  );
  expect(await client.call()).toEqual({ says: 'metric, Ada' });
  expect(client.questions).toEqual(['Which units?', 'Which units?', 'Which name?']);
  expect(lines).toEqual(['first line', 'second line', 'third line']);
});

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

test('two questions in Promise.all take a round each, because the first unwinds the handler', async () => {
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        const asked = [ctx.elicit('Your name?', Name), ctx.elicit('Their name?', Name)];
        return textResult((await Promise.all(asked)).map(({ name }) => name).join());
      }),
    ),
  );
  const client = await site.connect();
  const first = await client.send();
  expect(first.asks).toEqual({ name: 'Your name?' });
  const second = await client.answer(first, { name: ada });
  expect(second.asks).toEqual({ 'name-2': 'Their name?' });
  expect(await client.answer(second, { 'name-2': accept({ name: 'Grace' }) })).toEqual({ says: 'Ada,Grace' });
});

test('two questions that start together and are awaited one by one cause no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const listener = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', listener);
  onTestFinished(() => void process.off('unhandledRejection', listener));
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        const [first, second] = [ctx.elicit('Which units?', Units), ctx.elicit('Which name?', Name)];
        return textResult(`${(await first).units}, ${(await second).name}`);
      }),
    ),
  );
  expect(await (await site.connect(user)).call()).toEqual({ says: 'metric, Ada' });
  await settle(3);
  expect(unhandled).toEqual([]);
});

test('one question in a loop is a new question in each iteration', async () => {
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        let count = 0;
        while ((await ctx.elicit('More?', z.object({ more: z.boolean() }))).more) count++;
        return textResult(String(count));
      }),
    ),
  );
  const more = countRuns((run) => accept({ more: run < 4 }));
  const client = await site.connect(more);
  expect(await client.call()).toEqual({ says: '3' });
});

test('a refusal throws in either era, with its kind', async () => {
  const kinds: string[] = [];
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        const { units } = await ctx.elicit('Which units?', Units).catch((error) => {
          if (error instanceof ElicitationDeclined) kinds.push(error.kind);
          throw error;
        });
        return textResult(units);
      }),
    ),
  );
  for (const refusal of [decline, cancel]) {
    await (await site.connect(() => refusal)).call();
    await (await site.connectLegacy(() => refusal)).call();
  }
  expect(kinds).toEqual(['declined', 'declined', 'cancelled', 'cancelled']);
});
