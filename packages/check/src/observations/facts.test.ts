import { describe, expect, test } from 'vitest';
import { Likeness } from '../session/likeness.ts';
import { Facts } from './facts.ts';

function factsOf({ idempotentHint, state }: { idempotentHint?: boolean; state?: string }): Facts {
  const annotations = idempotentHint === undefined ? {} : { idempotentHint };
  const rest = { otherArguments: undefined, readOnly: false };
  const facts = new Facts({ transport: 'http', listed: { annotations }, ...rest, declaredOneTime: false });
  facts.rounds = [{ requests: {}, state, likeness: new Likeness() }] as never;
  return facts;
}

describe('one approval for one effect', () => {
  test('is owed by a tool that sends state and says that it is not idempotent', () => {
    expect(factsOf({ idempotentHint: false, state: 'v1.x' }).oneTime).toBe(true);
    expect(factsOf({ state: 'v1.x' }).oneTime).toBe(false);
  });

  test('is not owed by a tool without state, for the clause speaks of state', () => {
    expect(factsOf({ idempotentHint: false }).oneTime).toBe(false);
  });
});
