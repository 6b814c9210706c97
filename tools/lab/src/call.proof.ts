/** Calls whose processes end at a bad moment. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lab } from './lab.ts';
import { setUp } from './set-up.ts';

let lab: Lab;
beforeAll(() => {
  lab = new Lab();
});
afterAll(() => lab.close());

test('an instance that is killed before it serves its call ends the call, and the lab goes on', async () => {
  const set = { do: 'set-up', side: 'left', setUp: setUp('h', { instances: 'one' }) } as const;
  await lab.do(set);
  await Promise.all([
    lab.do({ do: 'call', side: 'left' }),
    lab.do({ do: 'kill', side: 'left', instance: 'i1' }),
  ]);
  const { conversation } = await lab.until('left', ({ doing }) => doing === 'over');
  expect(conversation.end?.error).toBeDefined();
  await lab.do(set);
  await lab.do({ do: 'call', side: 'left' });
  expect((await lab.until('left', ({ doing }) => doing !== 'calling')).doing).toBe('asked');
});
