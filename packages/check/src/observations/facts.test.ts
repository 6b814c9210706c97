import { expect, test } from 'vitest';
import { Likeness } from '../session/likeness.ts';
import { Facts } from './facts.ts';

function factsOf({ idempotentHint, state }: { idempotentHint?: boolean; state?: string }): Facts {
  const annotations = idempotentHint === undefined ? {} : { idempotentHint };
  const rest = { otherArguments: undefined, readOnly: false };
  const facts = new Facts({ transport: 'http', listed: { annotations }, ...rest, declaredOneTime: false });
  facts.rounds = [{ requests: {}, state, likeness: new Likeness() }] as never;
  return facts;
}

test('one approval for one effect is owed by a tool that sends state and declares that it is not idempotent', () => {
  expect(factsOf({ idempotentHint: false, state: 'v1.x' }).oneTime).toBe(true);
  expect(factsOf({ state: 'v1.x' }).oneTime).toBe(false);
  // The clause is about state.
  expect(factsOf({ idempotentHint: false }).oneTime).toBe(false);
});
