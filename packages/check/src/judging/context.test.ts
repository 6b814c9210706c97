import { expect, test } from 'vitest';
import { Likeness } from '../session/likeness.ts';
import { createContext } from './context.ts';

function isOneTime(annotations: { idempotentHint?: boolean }, state?: string): boolean {
  const operation = { kind: 'tool', name: 'send', arguments: {} };
  const context = createContext({ operation, oneTime: false } as never, { fleet: {} } as never);
  context.entries.set('tool send', { annotations });
  context.facts.rounds = [{ requests: {}, state, likeness: new Likeness() }] as never;
  return context.oneTime;
}

test('one approval for one effect is owed by a tool that sends state and declares that it is not idempotent', () => {
  expect(isOneTime({ idempotentHint: false }, 'v1.x')).toBe(true);
  expect(isOneTime({}, 'v1.x')).toBe(false);
  // The clause is about state.
  expect(isOneTime({ idempotentHint: false })).toBe(false);
});
