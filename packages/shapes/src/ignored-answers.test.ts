/** Handlers that ask for ever without an error are published, and reported to `onerror` once. */
import { ask, elicitation, textResult } from '@mrtr/core';
import { type Events, observe } from '@mrtr/core/events';
import { isFinal } from '@mrtr/core/shape';
import { expect, onTestFinished, test } from 'vitest';
import { metric, TestDeployment, tool, Units, units } from './fixture.test-support.ts';
import { journal } from './journal/index.ts';
import { once } from './once/index.ts';

/** Answers every question of a call with `metric`, until its rounds run out. */
async function exhaustRounds(register: ReturnType<typeof tool>) {
  const errors: string[] = [];
  const events: Events['mrtr:answer'][] = [];
  onTestFinished(observe('mrtr:answer', (event) => events.push(event)));
  const site = new TestDeployment(register, {
    limits: { rounds: 4 },
    onerror: (error) => errors.push(error.message),
  });
  const client = await site.connect();
  let outcome = await client.send();
  while (outcome.asks) {
    const keys = Object.keys(outcome.asks);
    outcome = await client.answer(outcome, Object.fromEntries(keys.map((key) => [key, metric])));
  }
  return { outcome, errors, events: events.map(({ key, reason, times }) => `${key} ${reason} ${times}`) };
}

let shown = 0;
const counting = () => elicitation(`Which units? (asked ${++shown} times)`, Units);

test.each([
  [
    'once: an answer that is read inside once',
    'unread',
    once(async (_args, ctx) => {
      const answer = await ctx.once('answer', () => ctx.answer('units', units));
      return isFinal(answer) ? textResult('Done.') : ask({ units });
    }),
  ],
  [
    'once: a question with new words in each round',
    'reworded',
    once((_args, ctx) => {
      const question = counting();
      return isFinal(ctx.answer('units', question)) ? textResult('Done.') : ask({ units: question });
    }),
  ],
  [
    'journal: a question with new words in each round',
    'reworded',
    journal(async (_args, ctx) => textResult((await ctx.ask('units', counting())).units)),
  ],
])('%s is reported from the second time on', async (_what, reason, callback) => {
  const { outcome, events, errors } = await exhaustRounds(tool(callback));
  expect(outcome).toEqual({
    fails: `This call still needs input after 4 rounds. It asked 'units' 4 times. Start it again.`,
  });
  expect(events).toEqual([`units ${reason} 2`, `units ${reason} 3`]);
  expect(errors).toEqual([
    expect.stringContaining(`asks 'units' again, and ignored two answers to it`),
    expect.stringContaining('still needs input after 4 rounds'),
  ]);
});
