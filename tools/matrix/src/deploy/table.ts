/** The claims about deploys as tables. Tests compare each claim with a measurement. */

import type { Measured } from '@mrtr/comparison/calls';
import type { Change } from '@mrtr/comparison/claims';
import { claimOf } from './call.ts';
import { QUESTION_CHANGES, STEP_CHANGES } from './changes.ts';

type Rows = readonly (readonly string[])[];

export function deployTables(
  options: readonly Measured[],
): Readonly<Record<'deploy-questions' | 'deploy-steps', Rows>> {
  const claiming = options.filter(({ claims }) => claims.deploys);
  return {
    'deploy-questions': table(QUESTION_CHANGES, claiming),
    'deploy-steps': table(STEP_CHANGES, claiming),
  };
}

function table(changes: Partial<Record<Change, string>>, options: readonly Measured[]): Rows {
  const all = Object.keys(changes) as Change[];
  const columns = new Map<string, { readonly names: string[]; readonly cells: readonly string[] }>();
  for (const option of options) {
    const cells = all.map((change) => cellOf(option, change));
    const column = columns.get(cells.join()) ?? { names: [], cells };
    column.names.push(option.name ?? option.id.toUpperCase());
    columns.set(cells.join(), column);
  }
  const shown = [...columns.values()];
  const rows = all.map((change, at) => [changes[change] ?? '', ...shown.map(({ cells }) => cells[at] ?? '')]);
  return [['Version 2 …', ...shown.map(({ names }) => names.join(', '))], ...rows];
}

function cellOf(option: Measured, change: Change): string {
  const asked = claimOf({ option, change, moment: 'asked' });
  const answered = claimOf({ option, change, moment: 'answered' });
  return asked === answered ? asked : `${asked} / ${answered}`;
}
