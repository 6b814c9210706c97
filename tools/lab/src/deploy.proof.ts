/** A deploy in the lab: processes with new code replace the processes that asked. */
import { eventsOf } from '@mrtr/harness/transcript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lab } from './lab.ts';
import { type SetUp, setUp } from './set-up.ts';

const SET_UP = setUp('f', { tool: 'work-item', instances: 'one' });

let lab: Lab;

beforeAll(async () => {
  lab = new Lab();
});
afterAll(() => lab.close());

const stateOf = () => lab.until('left', () => true);

async function orderAsked(option: string, more: Partial<SetUp> = {}): Promise<void> {
  await lab.do({ do: 'set-up', side: 'left', setUp: { ...SET_UP, option, tool: 'order', ...more } });
  await lab.do({ do: 'call', side: 'left' });
  expect((await lab.until('left', ({ asked }) => asked !== undefined)).asked?.message).toBe('Which size?');
}

test('a deploy puts processes of other code in the place of all that serve the call, once', async () => {
  await orderAsked('g', { instances: 'two' });
  await lab.do({ do: 'deploy', side: 'left', change: 'reworded' });
  const { problem, conversation } = await stateOf();
  expect(problem).toBeUndefined();
  const deployed = eventsOf('restart', conversation.events).map(({ deployed }) => deployed);
  expect(deployed).toEqual(['reworded', 'reworded']);
  await lab.do({ do: 'deploy', side: 'left', change: 'removed' });
  expect((await stateOf()).problem).toMatch(/^Version 2 runs already/);
  const reply = { action: 'accept', content: { size: 'M' } } as const;
  await lab.do({ do: 'answer', side: 'left', question: 1, reply });
  const { asked, insides } = await lab.until('left', ({ asked }) => asked?.id === 2);
  expect(asked?.message).toBe('What size, please?');
  expect(Object.values(insides)).toMatchObject([{ sealed: true }, { sealed: true }]);
});

test('nothing is deployed where no question is open, or where the tool has no version 2', async () => {
  await lab.do({ do: 'set-up', side: 'left', setUp: { ...SET_UP, option: 'e-bare', tool: 'order' } });
  expect((await stateOf()).problem).toMatch(/^E bare is not among the shapes/);
  await lab.do({ do: 'set-up', side: 'left', setUp: { ...SET_UP, option: 'j', tool: 'order' } });
  await lab.do({ do: 'deploy', side: 'left', change: 'reworded' });
  expect((await stateOf()).problem).toBe('Deploy a version while a question is open.');
  await lab.do({ do: 'set-up', side: 'left', setUp: SET_UP });
  await lab.do({ do: 'call', side: 'left' });
  await lab.until('left', ({ doing }) => doing === 'asked');
  await lab.do({ do: 'deploy', side: 'left', change: 'reworded' });
  expect((await stateOf()).problem).toBe('This tool has no version 2.');
});

test('the call of an old client ends with the processes that it is connected to', async () => {
  await orderAsked('g', { client: 'legacy' });
  await lab.do({ do: 'deploy', side: 'left', change: 'nothing' });
  const { conversation } = await lab.until('left', ({ doing }) => doing === 'over');
  expect(conversation.end?.error?.message).toBeDefined();
});
