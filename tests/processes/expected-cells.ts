/**
 * The cells that an option in processes owes, written out here: a play that is lost from `plays.ts` is missing here.
 */

import { GET_WEATHER, RESOLVE_WORK_ITEM } from '@mrtr/example-tools';
import type { KillCell, Play } from '@mrtr/matrix/processes';
import { namesOf } from '../testkit/cells.ts';

const METRIC = `${GET_WEATHER} · metric`;
const DUPLICATE = `${RESOLVE_WORK_ITEM} · duplicate`;

const WEATHER = ['imperial', 'decline', 'cancel', 'nonsense', 'silence'];
const WORK_ITEM = ['fixed', 'decline', 'cancel', 'decline-late', 'silence'];
const NONSENSE = `${RESOLVE_WORK_ITEM} · nonsense`;
/** The scripts that only `http` plays with both clients. */
const MORE = [...namesOf([GET_WEATHER], WEATHER), ...namesOf([RESOLVE_WORK_ITEM], WORK_ITEM)];

/** On `processes`, and through a kill. */
const FLEET = [
  ...namesOf(['modern · shim'], [METRIC, DUPLICATE, NONSENSE]),
  `mute · shim · ${METRIC}`,
  ...namesOf(['legacy · shim'], [METRIC, DUPLICATE]),
  `legacy · degrade · ${METRIC}`,
];
const HTTP = [
  ...FLEET,
  ...namesOf(['modern · shim'], MORE),
  ...namesOf(['legacy · shim'], [...MORE, NONSENSE]),
];
const STDIO = [`modern · shim · ${DUPLICATE}`, `legacy · shim · ${DUPLICATE}`];

/** Cells of one option: 2 on stdio, 28 on http and 7 on processes; and in a short run 1, 7 and 7. */
export const CELLS_OF_AN_OPTION = { all: 37, brief: 15 } as const;
/** Those of them that are also on `processes`: 2, 7 and 7; and in a short run 1, 7 and 7. */
export const COMPARED_OF_AN_OPTION = { all: 16, brief: 15 } as const;
export const KILLS_OF_AN_OPTION = 7;

export function expectedCells(id: string, which: 'all' | 'brief'): string[] {
  const plays = {
    all: [namesOf(['stdio'], STDIO), namesOf(['http'], HTTP)],
    brief: [namesOf(['stdio'], STDIO.slice(1)), namesOf(['http'], FLEET)],
  };
  return namesOf([id], [...plays[which].flat(), ...namesOf(['processes'], FLEET)]);
}

export const expectedKills = (id: string): string[] => namesOf([id], FLEET);

const nameOfPlay = ({ client, legacy, script }: Play): string =>
  `${client} · ${legacy} · ${script.tool} · ${script.name}`;

export const nameOfCell = (id: string, { hosting, ...play }: Play & { readonly hosting: string }): string =>
  `${id} · ${hosting} · ${nameOfPlay(play)}`;

export const nameOfKill = ({ option, play }: KillCell): string => `${option.id} · ${nameOfPlay(play)}`;
