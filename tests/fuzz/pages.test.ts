/** Pages, in process, against arbitrary visits. */
import { test } from 'vitest';
import { onlyItsUserFinishes } from './callbacks.ts';
import { CASES, holds, told } from './cases.ts';

test(`a page counts for its own user, once, and in time ${told(CASES)}`, { timeout: 180_000 }, async () => {
  await holds(onlyItsUserFinishes(), CASES);
});
