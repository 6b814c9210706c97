/** H on PostgreSQL in the live lab: on a given server, on one that the lab starts, and without any. */
import { resultText } from '@mrtr/harness/transcript';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { test as anywhere, expect, onTestFinished } from 'vitest';
import { Lab } from './lab.ts';
import { Postgres } from './postgres.ts';
import type { SideState } from './protocol.ts';
import { setUp } from './set-up.ts';

const { database, test } = await postgresOfTheRun();

const SET_UP = setUp('h-postgres');

async function labOn(postgres?: Postgres) {
  const lab = new Lab(postgres);
  onTestFinished(() => lab.close());
  return { lab, until: (is: (state: SideState) => boolean) => lab.until('left', is) };
}

test('another instance finishes the call that the killed one had begun', async () => {
  const { lab, until } = await labOn(new Postgres(await database()));
  await lab.do({ do: 'set-up', side: 'left', setUp: SET_UP });
  await lab.do({ do: 'call', side: 'left' });
  await until(({ asked }) => asked !== undefined);
  await lab.do({ do: 'kill', side: 'left', instance: 'i1' });
  const reply = { action: 'accept', content: { units: 'metric' } } as const;
  await lab.do({ do: 'answer', side: 'left', question: 1, reply });
  const { conversation } = await until(({ doing }) => doing === 'over');
  expect(resultText(conversation?.end?.result ?? {})).toBe('Weather in Tokyo: 22°C, partly cloudy.');
});

test('on a server that the lab starts, a new version finishes a call if it asks more at the end', async () => {
  const { lab, until } = await labOn();
  await lab.do({ do: 'set-up', side: 'left', setUp: { ...SET_UP, tool: 'order', instances: 'one' } });
  await lab.do({ do: 'call', side: 'left' });
  await until(({ asked }) => asked !== undefined);
  await lab.do({ do: 'deploy', side: 'left', change: 'added-after' });
  const answers = [{ size: 'M' }, { colour: 'red' }, { gift: 'no' }];
  for (const [at, content] of answers.entries()) {
    await until(({ asked }) => asked?.id === at + 1);
    await lab.do({ do: 'answer', side: 'left', question: at + 1, reply: { action: 'accept', content } });
  }
  const { conversation } = await until(({ doing }) => doing === 'over');
  expect(resultText(conversation?.end?.result ?? {})).toBe(
    'Ordered: colour red, gift no, size M, ticket T1.',
  );
});

anywhere('a side whose database cannot be started says so, and stays as it was', async () => {
  const { lab, until } = await labOn(new Postgres(undefined, { programs: '/nowhere' }));
  const before = await until(({ doing }) => doing === 'ready');
  await lab.do({ do: 'set-up', side: 'left', setUp: SET_UP });
  const after = await until(({ problem }) => problem !== undefined);
  expect(after.problem).toMatch(
    /^H on PostgreSQL needs a PostgreSQL, and none could be started here: .*nowhere/,
  );
  expect(after.setUp).toEqual(before.setUp);
  await lab.do({ do: 'call', side: 'left' });
  await until(({ asked }) => asked !== undefined);
});
