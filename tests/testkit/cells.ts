/** Whether a measured table is complete. A test that filters its cells passes when they are missing; this one does not. */

/** Every combination of one name of each list, joined as in `option g · unaskable · fleet`. */
export const namesOf = (...lists: readonly (readonly string[])[]): string[] =>
  lists.reduce<string[]>(
    (names, list) => names.flatMap((name) => list.map((next) => (name === '' ? next : `${name} · ${next}`))),
    [''],
  );

/** A line for each cell that is missing, measured more than once, or not expected. */
export function cellsAmiss(expected: readonly string[], measured: readonly string[]): string[] {
  const counts = new Map<string, number>(expected.map((name) => [name, 0]));
  const surplus = measured.filter((name) => !counts.has(name));
  for (const name of measured) counts.set(name, (counts.get(name) ?? 0) + 1);
  const owed = [...new Set(expected)];
  return [
    ...owed.filter((name) => counts.get(name) === 0).map((name) => `missing: ${name}`),
    ...owed.filter((name) => (counts.get(name) ?? 0) > 1).map((name) => `more than once: ${name}`),
    ...surplus.map((name) => `not expected: ${name}`),
  ];
}
