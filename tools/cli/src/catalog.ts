/** All demos by name, read from their folders' manifests. A demo is loaded only when it runs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Demo, DrawnDemo } from '@mrtr/comparison/demo';
import {
  findOption,
  type ListedOption,
  type LoadedOption,
  loadOption,
  OPTIONS,
} from '@mrtr/comparison/options';

export type Flag =
  | 'tool'
  | 'shape'
  | 'client'
  | 'hosting'
  | 'answer'
  | 'legacy'
  | 'postgres'
  | 'deploy'
  | 'json'
  | 'mermaid';

/** A demo in the list. */
export interface ListedDemo {
  /** The name in lists and headings: `basic`, `option-g`. */
  readonly name: string;
  readonly title: string;
  readonly takes: readonly Flag[];
  /** Set if it is an option, with both tools. */
  readonly option?: ListedOption;
  /** The variant of the option that keeps its calls in a database. */
  readonly stored?: ListedOption | undefined;
  /** The place where it runs, if the command line cannot choose it. */
  readonly where?: string;
  readonly shapes?: readonly string[];
  /** Loads it. `postgres` keeps its calls. */
  load(postgres?: string): Promise<Demo | DrawnDemo>;
}

interface Manifest {
  readonly description: string;
  /** What it takes, besides one of its shapes. */
  readonly demo?: Pick<ListedDemo, 'takes' | 'where' | 'shapes'>;
}

const FOLDERS = new URL('../../../demos/', import.meta.url);

function readDemo(name: string) {
  const manifest = new URL(`${name}/package.json`, FOLDERS);
  // Git leaves the `node_modules` of a removed demo.
  if (!existsSync(manifest)) return [];
  const { description: title, demo }: Manifest = JSON.parse(readFileSync(manifest, 'utf8'));
  if (!demo) return [];
  const takes = [...(demo.shapes ? (['shape'] as const) : []), ...demo.takes];
  const load = async () => (await import(/* @vite-ignore */ new URL('demo.ts', manifest).href)).demo;
  return [{ ...demo, name, title, takes, load }];
}

function demoOf(option: ListedOption) {
  const stored = OPTIONS.find(({ id, needsPostgres }) => needsPostgres && id.startsWith(`${option.id}-`));
  const ofDatabase = stored ? (['postgres'] as const) : [];
  const demo: ListedDemo = {
    name: `option-${option.id}`,
    title: option.title,
    takes: ['tool', 'client', 'hosting', 'legacy', 'answer', 'json', 'mermaid', ...ofDatabase, 'deploy'],
    ...{ option, stored },
    async load(postgres) {
      const { demoOfOption } = await import('@mrtr/comparison/demo');
      return demoOfOption(await loadOptionOf(demo, postgres));
    },
  };
  return demo;
}

const FOUND = readdirSync(FOLDERS).flatMap(readDemo);
const isSimple = ({ takes }: ListedDemo) => takes.includes('json');

/** The demos that make one call, the options without their variants, and the demos that make several calls. */
export const DEMOS: readonly ListedDemo[] = [
  ...FOUND.filter(isSimple),
  ...OPTIONS.filter(({ id }) => id.length === 1).map(demoOf),
  ...FOUND.filter((demo) => !isSimple(demo)),
];

/** The demo of the option with this name, letter or word: `option-g`, `g`, `tool-builder`. */
export function optionDemo(name: string) {
  const option = findOption(name);
  return option && DEMOS.find((demo) => demo.option === option);
}

/** Loads the option of its demo; with `postgres`, the variant that keeps its calls there. */
export const loadOptionOf = ({ option, stored }: ListedDemo, postgres?: string): Promise<LoadedOption> =>
  loadOption((postgres === undefined ? option : stored) as ListedOption, postgres);

/** `option F · once`, `option H on PostgreSQL`, or `basic · one question, one retry`. */
export function headingOf({ option, stored, name, title }: ListedDemo, onPostgres = false) {
  if (!option) return `${name} · ${title}`;
  return onPostgres ? `option ${stored?.name}` : `option ${option.name} · ${title}`;
}
