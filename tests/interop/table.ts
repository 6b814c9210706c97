/** Rows that are alike become one. */
import { markdownTable } from 'markdown-table';
import type { Option } from './options.ts';
import type { Transport } from './target.ts';

/** What was observed at one option, over one transport. */
export interface Placed<Value> {
  readonly option: Option;
  readonly transport: Transport;
  readonly value: Value;
}

/** Each different value once, and where it was observed: `E, H; stdio, HTTP`. */
export function rowsOf<Value>(
  placed: readonly Placed<Value>[],
): readonly { readonly at: string; readonly value: Value }[] {
  const alike = new Map<string, Placed<Value>[]>();
  for (const one of placed) {
    const key = JSON.stringify(one.value);
    alike.set(key, [...(alike.get(key) ?? []), one]);
  }
  return [...alike.values()].map((same) => ({
    at: placesOf(same),
    value: (same[0] as Placed<Value>).value,
  }));
}

function placesOf(placed: readonly Placed<unknown>[]): string {
  const transports = new Map<string, Option[]>();
  for (const { option, transport } of placed) {
    transports.set(transport, [...(transports.get(transport) ?? []), option]);
  }
  const optionsOf = [...transports].map(([transport, options]) => [options.join(', '), transport] as const);
  const [first] = optionsOf;
  if (first && optionsOf.every(([options]) => options === first[0])) {
    return `${first[0]}; ${optionsOf.map(([, transport]) => transport).join(', ')}`;
  }
  return optionsOf.map(([options, transport]) => `${options} ${transport}`).join('; ');
}

export const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  markdownTable([head, ...rows] as string[][], { padding: true, alignDelimiters: false });
