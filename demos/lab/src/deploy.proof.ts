/** A deploy in the lab: processes of other code take the places of those that asked. */
import { eventsOf, resultText } from '@mrtr/harness/transcript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { watching } from './lab.test-support.ts';
import { Lab } from './lab.ts';
import { setUp } from './lessons.ts';
import type { Command, SetUp } from './protocol.ts';

const SET_UP = setUp('f', { tool: 'work-item', instances: 'one' });

let lab: Lab;

beforeAll(async () => {
  lab = await Lab.start();
}, 60_000);
afterAll(() => lab.close(), 30_000);

const until = watching(() => lab);
const stateOf = (side: 'left' | 'right') => until(side, () => true);
const send = (command: Command) => lab.do(command);

async function orderAsked(option: string, more: Partial<SetUp> = {}): Promise<void> {
  await send({ do: 'set-up', side: 'left', setUp: { ...SET_UP, option, tool: 'order', ...more } });
  await send({ do: 'call', side: 'left' });
  expect((await until('left', ({ asked }) => asked !== undefined)).asked?.message).toBe('Which size?');
}

const accept = (question: number, content: Record<string, string>) =>
  send({ do: 'answer', side: 'left', question, reply: { action: 'accept', content } });
async function cancel(): Promise<void> {
  await send({ do: 'answer', side: 'left', question: 1, reply: { action: 'cancel' } });
  await until('left', ({ doing }) => doing === 'over');
}

test('a deploy puts processes of other code in the place of those that asked, and the call goes on in them', async () => {
  await orderAsked('g', { instances: 'two' });
  await send({ do: 'deploy', side: 'left', change: 'reworded' });
  const { problem, conversation: deployed } = await stateOf('left');
  expect(problem).toBeUndefined();
  expect(eventsOf('restart', deployed.events).map(({ deployed }) => deployed)).toEqual([
    'reworded',
    'reworded',
  ]);
  await send({ do: 'deploy', side: 'left', change: 'removed' });
  expect((await stateOf('left')).problem).toMatch(/^Version 2 runs already/);
  await accept(1, { size: 'M' });
  const { asked, insides } = await until('left', ({ asked }) => asked?.id === 2);
  expect(asked?.message).toBe('What size, please?');
  expect(Object.values(insides)).toMatchObject([{ sealed: true }, { sealed: true }]);
  await accept(2, { size: 'L' });
  await until('left', ({ asked }) => asked?.id === 3);
  await accept(3, { colour: 'red' });
  const { conversation } = await until('left', ({ doing }) => doing === 'over');
  expect(resultText(conversation.end?.result ?? {})).toBe('Ordered: colour red, size L, ticket T1.');
  expect(eventsOf('effect', conversation.events).map(({ detail }) => detail)).toEqual(['ticket', 'order']);
  // The code of the tool with versions is no author's.
  expect(eventsOf('lines', conversation.events)).toEqual([]);
}, 60_000);

test('nothing is deployed where no question is open, or where the tool has no version 2', async () => {
  await send({ do: 'set-up', side: 'left', setUp: { ...SET_UP, option: 'e-bare', tool: 'order' } });
  expect((await stateOf('left')).problem).toMatch(/^E bare is not among the shapes/);
  await send({ do: 'set-up', side: 'left', setUp: { ...SET_UP, option: 'j', tool: 'order' } });
  await send({ do: 'deploy', side: 'left', change: 'reworded' });
  expect((await stateOf('left')).problem).toBe('Deploy a version while a question is open.');
  await send({ do: 'set-up', side: 'left', setUp: SET_UP });
  await send({ do: 'call', side: 'left' });
  await until('left', ({ doing }) => doing === 'asked');
  await send({ do: 'deploy', side: 'left', change: 'reworded' });
  expect((await stateOf('left')).problem).toBe('This tool has no version 2.');
  await cancel();
}, 60_000);

test('the call of an old client ends with the processes that it is connected to', async () => {
  await orderAsked('g', { client: 'legacy' });
  await send({ do: 'deploy', side: 'left', change: 'nothing' });
  const { conversation } = await until('left', ({ doing }) => doing === 'over');
  expect(conversation.end?.error?.message).toBeDefined();
}, 60_000);
