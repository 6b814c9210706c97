/**
 * `@mrtr/options-list`: the list of all options, each loaded on demand. Tests, demos, benchmarks and documents use this
 * list, so a new option takes a folder and a line.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Option } from '@mrtr/options-contract';

/** An option in the list. */
export interface ListedOption {
  /** `g`, or `e-naive` for a variant. */
  readonly id: string;
  /** The word in its folder's name: `tool-builder`. */
  readonly word: string;
  /** The name in tables: `G`, `H on PostgreSQL`. */
  readonly name: string;
  /** The shape in a word or two. */
  readonly title: string;
  /** The module that exports `option`. */
  readonly module: string;
  /** Whether it keeps calls in a database, `OptionDeps.postgres`. */
  readonly needsPostgres: boolean;
  readonly load: () => Promise<{ readonly option: Option }>;
}

/** A loaded option. */
export type LoadedOption = Omit<ListedOption, 'load'> & Option;

type Line = Pick<ListedOption, 'id' | 'word' | 'title' | 'load'> & Partial<ListedOption>;

/** Every option, in the order of the tables. */
export const OPTIONS: readonly ListedOption[] = (
  [
    { id: 'a', word: 'shim', title: 'shim', load: () => import('@mrtr/option-a') },
    { id: 'b', word: 'await', title: 'await', load: () => import('@mrtr/option-b') },
    { id: 'c', word: 'branch', title: 'branch', load: () => import('@mrtr/option-c') },
    { id: 'd', word: 'by-era', title: 'by era', load: () => import('@mrtr/option-d') },
    { id: 'e', word: 'guard-first', title: 'guard-first', load: () => import('@mrtr/option-e') },
    {
      id: 'e-naive',
      word: 'naive',
      name: 'E naive',
      title: 'guard-first, the effect above the guard',
      module: '@mrtr/option-e/naive',
      load: () => import('@mrtr/option-e/naive'),
    },
    {
      id: 'e-bare',
      word: 'bare',
      name: 'E bare',
      title: 'guard-first, on the SDK alone',
      module: '@mrtr/option-e/bare',
      load: () => import('@mrtr/option-e/bare'),
    },
    { id: 'f', word: 'once', title: 'once', load: () => import('@mrtr/option-f') },
    { id: 'g', word: 'tool-builder', title: 'tool builder', load: () => import('@mrtr/option-g') },
    { id: 'h', word: 'linear', title: 'linear', load: () => import('@mrtr/option-h') },
    {
      id: 'h-postgres',
      word: 'linear-postgres',
      name: 'H on PostgreSQL',
      title: 'linear',
      needsPostgres: true,
      load: () => import('@mrtr/option-h-postgres'),
    },
    { id: 'i', word: 'resolve', title: 'resolve', load: () => import('@mrtr/option-i') },
    { id: 'j', word: 'journal', title: 'journal', load: () => import('@mrtr/option-j') },
  ] satisfies readonly Line[]
).map(
  (line: Line): ListedOption => ({
    name: line.id.toUpperCase(),
    module: `@mrtr/option-${line.id}`,
    needsPostgres: false,
    ...line,
  }),
);

/** Finds an option by its id (`g`), letter (`G`), package (`option-g`) or word (`tool-builder`). */
export function findOption(name: string): ListedOption | undefined {
  const wanted = name.toLowerCase().replace(/^option-/, '');
  return OPTIONS.find(({ id, word }) => id === wanted || word === wanted);
}

const require = createRequire(import.meta.url);

/** The URL of an option's module, to load it in another process. */
export const addressOf = ({ module }: Pick<ListedOption, 'module'>): string =>
  pathToFileURL(require.resolve(module)).href;

/** Loads one option. */
export async function loadOption(listing: ListedOption): Promise<LoadedOption> {
  const { load, ...identity } = listing;
  return { ...identity, ...(await load()).option };
}

/** Loads several options, or all. */
export const loadOptions = (listings: readonly ListedOption[] = OPTIONS): Promise<readonly LoadedOption[]> =>
  Promise.all(listings.map(loadOption));
