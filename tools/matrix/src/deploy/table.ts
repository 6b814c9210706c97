/** The claims about deploys as tables. Tests compare each claim with a measurement. */

import type { Measured } from '@mrtr/comparison/calls';
import type { Change } from '@mrtr/comparison/claims';
import { groupBy, nameOf } from '../table-rows.ts';
import { claimOf } from './call.ts';
import { QUESTION_CHANGES, STEP_CHANGES } from './changes.ts';

export function deployTables(options: readonly Measured[]) {
  const claiming = options.filter(({ claims }) => claims.deploys);
  return {
    'deploy-questions': table(QUESTION_CHANGES, claiming),
    'deploy-steps': table(STEP_CHANGES, claiming),
  };
}

function table(changes: Partial<Record<Change, string>>, options: readonly Measured[]) {
  const all = Object.keys(changes) as Change[];
  const columns = groupBy(options, (option) => all.map((change) => cellOf(option, change)).join());
  const rows = all.map((change) => [changes[change] ?? '', ...columns.map(([one]) => cellOf(one, change))]);
  return [['Version 2 …', ...columns.map((alike) => alike.map(nameOf).join(', '))], ...rows];
}

function cellOf(option: Measured, change: Change) {
  const asked = claimOf({ option, change, moment: 'asked' });
  const answered = claimOf({ option, change, moment: 'answered' });
  return asked === answered ? asked : `${asked} / ${answered}`;
}
