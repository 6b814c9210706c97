/** Parses JSON, and finds facts about its text that parsing loses. */
import { visit } from 'jsonc-parser';

export { canonical } from '@mrtr/harness/internal';

export type JsonObject = Readonly<Record<string, unknown>>;

export type Texts = Readonly<Record<string, string>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value if it is an object, or else an empty one. */
export const asObject = (value: unknown) => (isObject(value) ? value : {});

/** The value if it is a list, or else an empty one. */
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const objectAt = (parent: unknown, key: string) => asObject(asObject(parent)[key]);

/** The object with each member changed. Leaves out those that become undefined. */
export const mapMembers = <T>(
  object: Readonly<Record<string, T>>,
  change: (value: T, key: string) => unknown,
) =>
  Object.fromEntries(
    Object.entries(object)
      .map(([key, value]) => [key, change(value, key)])
      .filter(([, value]) => value !== undefined),
  ) as JsonObject;

/** The limit of nesting: deeper values overflow the stack of code that walks them. */
const MAX_LEVELS = 500;

/** The limit of members: each is copied, redacted and drawn, so more would take minutes. */
const MAX_MEMBERS = 100_000;

/** Parses JSON; undefined if the text is not JSON, or {@link isTooMuch}. */
export function parse(text: string): unknown {
  const value = fromJson(text);
  return membersIn(value) > MAX_MEMBERS ? undefined : value;
}

export const isTooMuch = (text: string) => membersIn(fromJson(text)) > MAX_MEMBERS;

export const TOO_MUCH = `the answer has more than ${MAX_MEMBERS} members, or is nested deeper than ${MAX_LEVELS} levels`;

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Counts the members of all objects and arrays in a value. Infinity if it is too deep. */
export function membersIn(value: unknown, levels = MAX_LEVELS): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  return Object.values(value).reduce<number>((sum, member) => sum + 1 + membersIn(member, levels - 1), 0);
}

/** The paths of keys that occur twice in one object of valid JSON. `JSON.parse` keeps only the last. */
export function duplicateKeys(text: string) {
  const found: string[] = [];
  const open: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty(key, _offset, _length, _line, _column, pathTo) {
      const path = [...pathTo(), key].map((part) => (typeof part === 'number' ? '[]' : part));
      if (open.at(-1)?.has(key)) found.push(path.join('.'));
      open.at(-1)?.add(key);
    },
  });
  return found;
}

/** Cuts a text to `most` characters. The mark shows `redact.ts` where a secret may be cut in two. */
export const shorten = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most)}…` : text;
