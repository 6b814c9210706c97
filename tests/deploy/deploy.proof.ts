/** Deploys between two rounds in every shape, while a question is open and after it was answered. */

import { CHANGE_NAMES } from '@mrtr/comparison/claims';
import { loadOptions } from '@mrtr/comparison/options';
import {
  callThroughDeploy,
  claimOf,
  type DeployScenario,
  inMemory,
  MOMENTS,
  outcomeOf,
  type StartVersions,
} from '@mrtr/matrix/deploy';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect, test } from 'vitest';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import { expectedScenarios, nameOfScenario, SCENARIOS_OF_A_SHAPE } from './expected-scenarios.ts';
import { faultsOf } from './faults.ts';

const { database, test: testOnPostgres } = await postgresOfTheRun();
const DEPLOYED = (await loadOptions()).filter(({ claims }) => claims.deploys);

for (const option of DEPLOYED) {
  const testHere = option.needsPostgres ? testOnPostgres : test;
  testHere(`option ${option.id} does what it claims when its code changes between two rounds`, async () => {
    const host = inMemory(option.needsPostgres ? await database() : undefined);
    const [wrong, measured]: [string[], DeployScenario[]] = [[], []];
    for (const change of CHANGE_NAMES) {
      const scenarios = MOMENTS.map((moment): DeployScenario => ({ option, change, moment }));
      measured.push(...scenarios);
      wrong.push(...(await Promise.all(scenarios.map((one) => differences(one, host)))).flat());
    }
    expect(wrong.join('\n')).toBe('');
    expect(measured.map(nameOfScenario).sort()).toEqual(expectedScenarios(option.id).toSorted());
    expect(measured).toHaveLength(SCENARIOS_OF_A_SHAPE);
  });
}

async function differences(one: DeployScenario, host: StartVersions): Promise<string[]> {
  const transcript = await callThroughDeploy(one, host);
  expect(schemaMistakes([transcript])).toEqual([]);
  const { option, change, moment } = one;
  const [claim, outcome] = [claimOf(one), outcomeOf(transcript)];
  const faults = outcome === claim ? [] : [`claims '${claim}', and comes to '${outcome}'`];
  return [...faults, ...faultsOf(one, transcript)].map(
    (fault) => `${option.id} · ${change} · ${moment}: ${fault}`,
  );
}
