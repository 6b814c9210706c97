/** H on PostgreSQL in the live lab, where no PostgreSQL can be started. `postgres.proof.ts` has one. */
import { expect, onTestFinished, test } from 'vitest';
import { watching } from './lab.test-support.ts';
import { Lab } from './lab.ts';
import { Postgres } from './postgres.ts';
import type { SetUp, SideState } from './protocol.ts';

const SET_UP: SetUp = {
  option: 'h-postgres',
  tool: 'weather',
  client: 'modern',
  instances: 'two',
  singleUse: false,
};

test('a side whose database cannot be started says so, and stays as it was', async () => {
  const lab = await Lab.start(new Postgres(undefined, { programs: '/nowhere' }));
  onTestFinished(() => lab.close());
  const until = (is: (state: SideState) => boolean) => watching(() => lab)('left', is);
  const before = await until(({ doing }) => doing === 'ready');
  await lab.do({ do: 'set-up', side: 'left', setUp: SET_UP });
  const after = await until(({ problem }) => problem !== undefined);
  expect(after.problem).toMatch(
    /^H on PostgreSQL needs a PostgreSQL, and none could be started here: .*nowhere/,
  );
  expect(after.setUp).toEqual(before.setUp);
  await lab.do({ do: 'call', side: 'left' });
  await until(({ asked }) => asked !== undefined);
}, 30_000);
