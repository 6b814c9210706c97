/** A deploy between two rounds, in two real processes of different code. */

import { SHAPES, TwoProcesses } from '@mrtr/matrix/deploy';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { afterAll, beforeAll } from 'vitest';
import { holdToClaims } from './claims.test-support.ts';

const { database, missing, test } = await postgresOfTheRun();
let processes: TwoProcesses;

beforeAll(async () => {
  processes = await TwoProcesses.start(missing === undefined ? await database() : undefined);
}, 60_000);
afterAll(() => processes?.close(), 60_000);

for (const shape of SHAPES) {
  test(`shape ${shape} does what it claims when another process of other code goes on`, async () => {
    await holdToClaims(shape, processes.host);
  }, 180_000);
}
