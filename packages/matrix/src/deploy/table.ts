/** The claims of a deploy as tables. The tests hold every claim to what is measured. */

import { claimOf } from './claims.ts';
import { type Change, QUESTION_CHANGES, STEP_CHANGES } from './code/changes.ts';
import type { ShapeId } from './subject.ts';

type Rows = readonly (readonly string[])[];

const NAMES: Readonly<Record<ShapeId, string>> = {
  a: 'A',
  b: 'B',
  c: 'C',
  d: 'D',
  e: 'E',
  f: 'F',
  g: 'G',
  i: 'I',
  j: 'J',
  'h-postgres': 'H on PostgreSQL',
  h: 'H',
};

/** What was done to a question, and what to a step. */
export const deployTables = (): Readonly<Record<'deploy-questions' | 'deploy-steps', Rows>> => ({
  'deploy-questions': table(QUESTION_CHANGES),
  'deploy-steps': table(STEP_CHANGES),
});

/** A row for each change; shapes that do the same share a column. */
function table(changes: Partial<Record<Change, string>>): Rows {
  const all = Object.keys(changes) as Change[];
  const columns = new Map<string, { readonly names: string[]; readonly cells: readonly string[] }>();
  for (const shape of Object.keys(NAMES) as ShapeId[]) {
    const cells = all.map((change) => cellOf(shape, change));
    const column = columns.get(cells.join()) ?? { names: [], cells };
    column.names.push(NAMES[shape]);
    columns.set(cells.join(), column);
  }
  const shown = [...columns.values()];
  const rows = all.map((change, at) => [changes[change] ?? '', ...shown.map(({ cells }) => cells[at] ?? '')]);
  return [['Version 2 …', ...shown.map(({ names }) => names.join(', '))], ...rows];
}

function cellOf(shape: ShapeId, change: Change): string {
  const [asked, answered] = [claimOf(shape, change, 'asked'), claimOf(shape, change, 'answered')];
  return asked === answered ? asked : `${asked} / ${answered}`;
}
