/** Rows that are alike become one. */
import { markdownTable } from 'markdown-table';

/** Each different value once, and where it was observed: at the places, or `everywhere`. */
export function rowsOf<Value>(
  observed: ReadonlyMap<string, Value>,
  everywhere: string,
): readonly { readonly at: string; readonly value: Value }[] {
  const places = new Map<string, string[]>();
  for (const [place, value] of observed) {
    const key = JSON.stringify(value);
    places.set(key, [...(places.get(key) ?? []), place]);
  }
  return [...places].map(([value, at]) => ({
    at: places.size === 1 ? everywhere : at.join(', '),
    value: JSON.parse(value) as Value,
  }));
}

export const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  markdownTable([head, ...rows] as string[][], { padding: true, alignDelimiters: false });
