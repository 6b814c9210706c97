/** A deploy between two rounds, in this process: two servers with one key. `deploy.proof.ts` has two processes. */
import { test } from 'vitest';
import { holdToClaims } from './claims.test-support.ts';
import { inMemory } from './in-memory.ts';
import { SHAPES } from './subject.ts';

for (const shape of SHAPES.filter((one) => one !== 'h-postgres')) {
  test(`shape ${shape} does what it claims when its code changes between two rounds`, async () => {
    await holdToClaims(shape, inMemory());
  }, 30_000);
}
