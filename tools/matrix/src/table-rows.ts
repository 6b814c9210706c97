/** What the tables and the invariants share: their rows, the names of options, and groups of what is alike. */

import type { Measured } from '@mrtr/comparison/calls';

/** Rows of Markdown cells, the head first. `<br>` begins a line in a cell. */
export type Rows = readonly (readonly string[])[];

/** The name of an option in a table. */
export const nameOf = ({ id, name = id.toUpperCase() }: Pick<Measured, 'id' | 'name'>) => name;

/** Groups what has the same key, in the order of the first of each group. Node 20 has no `Map.groupBy`. */
export function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return [...groups.values()];
}
