/** Deploys between two rounds in every shape, while a question is open and after it was answered. */

import { loadOptions } from '@mrtr/comparison/options';
import {
  CHANGE_NAMES,
  claimOf,
  faultsOf,
  type Host,
  inMemory,
  MOMENTS,
  outcomeOf,
  type Play,
  play,
} from '@mrtr/matrix/deploy';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect, test } from 'vitest';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import { expectedPlays, nameOfPlay, PLAYS_OF_A_SHAPE } from './expected-plays.ts';

const { database, test: testOnPostgres } = await postgresOfTheRun();
const DEPLOYED = (await loadOptions()).filter(({ claims }) => claims.deploys);

for (const option of DEPLOYED) {
  const testHere = option.needsPostgres ? testOnPostgres : test;
  testHere(`option ${option.id} does what it claims when its code changes between two rounds`, async () => {
    const host = inMemory(option.needsPostgres ? await database() : undefined);
    const [wrong, played]: [string[], Play[]] = [[], []];
    for (const change of CHANGE_NAMES) {
      const plays = MOMENTS.map((moment): Play => ({ option, change, moment }));
      played.push(...plays);
      wrong.push(...(await Promise.all(plays.map((one) => differences(one, host)))).flat());
    }
    expect(wrong.join('\n')).toBe('');
    expect(played.map(nameOfPlay).sort()).toEqual(expectedPlays(option.id).toSorted());
    expect(played).toHaveLength(PLAYS_OF_A_SHAPE);
  });
}

async function differences(one: Play, host: Host): Promise<string[]> {
  const transcript = await play(one, host);
  expect(schemaMistakes([transcript])).toEqual([]);
  const { option, change, moment } = one;
  const [claim, outcome] = [claimOf(one), outcomeOf(transcript)];
  const faults = outcome === claim ? [] : [`claims '${claim}', and comes to '${outcome}'`];
  return [...faults, ...faultsOf(one, transcript)].map(
    (fault) => `${option.id} · ${change} · ${moment}: ${fault}`,
  );
}
