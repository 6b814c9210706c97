import { expect, test } from 'vitest';
import { isRefusal, isSettled } from './answer.ts';

test.each([
  [{ kind: 'accepted', value: 1 }, true, false],
  [{ kind: 'declined' }, true, true],
  [{ kind: 'cancelled' }, true, true],
  [{ kind: 'missing' }, false, false],
  [{ kind: 'invalid', issues: [] }, false, false],
] as const)('%j: settled %s, refused %s', (answer, settled, refused) => {
  expect([isSettled(answer), isRefusal(answer)]).toEqual([settled, refused]);
});
