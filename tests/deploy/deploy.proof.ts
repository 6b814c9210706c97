/** A deploy between two rounds, in two real processes of different code. */

import { TwoProcesses } from '@mrtr/matrix/deploy';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { afterAll, beforeAll } from 'vitest';
import { DEPLOYED, holdToClaims } from './claims.test-support.ts';

const { database, missing, test } = await postgresOfTheRun();
let processes: TwoProcesses;

beforeAll(async () => {
  processes = await TwoProcesses.start(missing === undefined ? await database() : undefined);
}, 60_000);
afterAll(() => processes?.close(), 60_000);

for (const option of DEPLOYED) {
  test(`option ${option.id} does what it claims when another process of other code goes on`, async () => {
    await holdToClaims(option, processes.host);
  }, 180_000);
}
