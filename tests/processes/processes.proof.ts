/** Every option keeps its claims when the process that asked is killed. */

import { eventsOf } from '@mrtr/harness/transcript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namesOf } from '../testkit/cells.ts';
import { LISTED, type OptionsOnPostgres, optionsOnPostgres } from '../testkit/options-on-postgres.ts';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import { type Processes, startProcesses } from './deployment.ts';
import { type KillCell, measureKills } from './kill.ts';
import { killsAsClaimed } from './kill-invariants.ts';

/** Written out, so that a scenario lost from the measurement is noticed. */
const SCENARIOS = namesOf(['modern', 'legacy'], ['get_weather · metric', 'resolve_work_item · duplicate']);

const nameOf = ({ option, scenario: { client, script } }: KillCell): string =>
  `${option.id} · ${client} · ${script.tool} · ${script.name}`;

const IDS = LISTED.map(({ id }) => id);
let database: OptionsOnPostgres | undefined;
let processes: Processes | undefined;
let kills: readonly KillCell[];

beforeAll(async () => {
  database = await optionsOnPostgres();
  processes = await startProcesses(database.locate);
  kills = await measureKills(database.options, processes);
}, 240_000);

afterAll(async () => {
  await processes?.close();
  await database?.close();
});

test('measures every call of every option, through a kill', () => {
  expect(kills.map(nameOf).sort()).toEqual(namesOf(IDS, SCENARIOS).toSorted());
  expect(kills).toHaveLength(4 * IDS.length);
  const conversations = kills.map(({ conversation }) => conversation);
  expect(schemaMistakes(conversations)).toEqual([]);
  expect(conversations.filter(({ events }) => eventsOf('kill', events).length !== 1)).toEqual([]);
});

test.each(IDS)('option %s does what it claims, killed while the user is thinking', (id) => {
  const own = kills.filter(({ option }) => option.id === id);
  expect(own.flatMap(killsAsClaimed).join('\n')).toBe('');
});
