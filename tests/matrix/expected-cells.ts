/**
 * The cells that the matrix owes. The lists are written out here, and not taken from those that the measurement loops
 * over: a scenario that is lost there is missing here.
 */

import { GET_WEATHER, RESOLVE_WORK_ITEM } from '@mrtr/example-tools';
import type { Cell } from '@mrtr/matrix';
import { OPTIONS } from '@mrtr/options';
import { namesOf } from '../testkit/cells.ts';

/** The options of today. A new one is expected as soon as it is listed; none of these may be lost. */
export const KNOWN_OPTIONS: readonly string[] = 'a b c d e e-naive e-bare f g h h-postgres i j'.split(' ');

const SERVED: readonly (readonly [client: string, legacy: string])[] = [
  ['modern', 'shim'],
  ['mute', 'shim'],
  ['legacy', 'shim'],
  ['legacy', 'degrade'],
];
const HOSTINGS = ['memory', 'fleet'];
const WEATHER = ['metric', 'imperial', 'decline', 'cancel', 'nonsense', 'silence'];
const WORK_ITEM = ['fixed', 'duplicate', 'decline', 'cancel', 'decline-late', 'nonsense', 'silence'];

/** The scripts of the tables, which an option on PostgreSQL runs with every test. */
const BRIEF = ['metric', 'fixed', 'duplicate'];

/** Cells of one option: 4 clients with their policies × 2 hostings × 13 scripts. */
export const CELLS_OF_AN_OPTION = 104;
/** Cells of an option in the scripts of the tables: 4 × 2 × 3. */
export const BRIEF_CELLS_OF_AN_OPTION = 24;

/** The names of all cells of one option; `brief` for those of the tables. */
export function expectedCells(id: string, which: 'all' | 'brief' = 'all'): string[] {
  const scripts = (names: readonly string[]) =>
    which === 'all' ? names : names.filter((name) => BRIEF.includes(name));
  const plays = [
    ...namesOf([GET_WEATHER], scripts(WEATHER)),
    ...namesOf([RESOLVE_WORK_ITEM], scripts(WORK_ITEM)),
  ];
  return SERVED.flatMap(([client, legacy]) => namesOf([`option ${id}`], [client], HOSTINGS, [legacy], plays));
}

/** The names of all cells of all listed options. Those on PostgreSQL have the scripts of the tables, or no cells. */
export const expectedOfAll = (postgres: boolean): string[] =>
  OPTIONS.filter(({ needsPostgres }) => postgres || !needsPostgres).flatMap(({ id, needsPostgres }) =>
    expectedCells(id, needsPostgres ? 'brief' : 'all'),
  );

export const expectedAtOldServer = (id: string): string[] =>
  expectedCells(id).filter((name) => name.startsWith(`option ${id} · modern · memory · shim · `));

/** A cell's name, by the scenario that the tests select cells with. */
export const nameOfCell = ({
  scenario,
  observed: { observation },
}: Pick<Cell, 'scenario' | 'observed'>): string => {
  const { client, hosting, legacy, script } = scenario;
  return `option ${observation.option} · ${client} · ${hosting} · ${legacy} · ${script.tool} · ${script.name}`;
};
