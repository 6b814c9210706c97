/** A deploy between two rounds, of every shape, while a question is open and when it was answered. */

import { inMemory } from '@mrtr/matrix/deploy';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { test } from 'vitest';
import { DEPLOYED, holdToClaims } from './claims.test-support.ts';

const { database, test: testOnPostgres } = await postgresOfTheRun();

for (const option of DEPLOYED) {
  const testHere = option.needsPostgres ? testOnPostgres : test;
  testHere(`option ${option.id} does what it claims when its code changes between two rounds`, async () => {
    await holdToClaims(option, inMemory(option.needsPostgres ? await database() : undefined), 'all');
  });
}
