/** Holds hosting to the limits of docs/security.md. `document.test.ts` has all other limits. */
import { test } from 'vitest';
import { HOSTING_HOLDS } from './hosting-limits.test-support.ts';
import { LIMITS } from './limits.ts';

test.each(
  Object.entries(HOSTING_HOLDS).map(([limit, holds]) => [limit, LIMITS.get(limit) ?? 0, holds] as const),
)(
  'the limit that the document gives is the one that holds: %s, %i',
  async (_limit, value, holds) => {
    await holds(value);
  },
  20_000,
);
