/**
 * The cells that the matrix owes. The lists are written out here, and not taken from those that the measurement loops
 * over: a scenario that is lost there is missing here.
 */

import { GET_WEATHER, RESOLVE_WORK_ITEM } from '@mrtr/comparison';
import type { Cell } from '@mrtr/matrix';
import { namesOf } from '../testkit/cells.ts';

/** The options of today. A new one is expected as soon as it is listed; none of these may be lost. */
export const KNOWN_OPTIONS: readonly string[] = 'a b c d e e-naive e-bare f g h h-postgres i j'.split(' ');

const SERVED: readonly string[] = ['modern · shim', 'unaskable · shim', 'legacy · shim', 'legacy · degrade'];
const HOSTINGS = ['memory', 'fleet'];
const WEATHER = ['metric', 'imperial', 'decline', 'cancel', 'nonsense', 'silence'];
const WORK_ITEM = ['fixed', 'duplicate', 'decline', 'cancel', 'decline-late', 'nonsense', 'silence'];

/** Cells of one option: 4 clients with their policies × 2 hostings × 13 scripts; or those of the tables, 3 of one client. */
export const CELLS_OF_AN_OPTION = { all: 104, brief: 12 } as const;

export type Extent = keyof typeof CELLS_OF_AN_OPTION;

/** The names of the cells of one option. `pnpm test` measures those of the tables, and `pnpm proof` all. */
export function expectedCells(id: string, extent: Extent): readonly string[] {
  if (extent === 'all') {
    const scripts = [...namesOf([GET_WEATHER], WEATHER), ...namesOf([RESOLVE_WORK_ITEM], WORK_ITEM)];
    return namesOf([id], SERVED, HOSTINGS, scripts);
  }
  const asked = [
    ...namesOf([GET_WEATHER], ['metric']),
    ...namesOf([RESOLVE_WORK_ITEM], ['fixed', 'duplicate']),
  ];
  const [modern = '', ...others] = SERVED;
  return [
    ...namesOf([id], [modern], HOSTINGS, asked),
    ...namesOf([id], others, HOSTINGS, namesOf([GET_WEATHER], ['metric'])),
  ];
}

/** A cell's name, by the scenario that was asked for. */
export function nameOfCell({ scenario, call: { measurement } }: Cell): string {
  const { client, legacy, hosting, script } = scenario;
  return [measurement.option, client, legacy, hosting, script.tool, script.name].join(' · ');
}
