/** What can be run, by the name one types. Nothing is loaded before it is asked for. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Subject } from '@mrtr/harness';
import type { SubjectModule } from '@mrtr/tests/processes';
import type { Option } from '@mrtr/tools';
import { POSTGRES_VARIABLE } from './database.ts';

// The titles are the options' own, known here before an option is loaded. A test compares them.
const OPTIONS = {
  'option-a': {
    title: "guard-first + the SDK's shim",
    load: async () => (await import('@mrtr/option-a')).option,
  },
  'option-b': { title: 'await by re-entry', load: async () => (await import('@mrtr/option-b')).option },
  'option-c': { title: 'one handler, era branch', load: async () => (await import('@mrtr/option-c')).option },
  'option-d': { title: 'two handlers, by era', load: async () => (await import('@mrtr/option-d')).option },
  'option-e': { title: 'guard-first', load: async () => (await import('@mrtr/option-e')).option },
  'option-f': { title: 'once', load: async () => (await import('@mrtr/option-f')).option },
  'option-g': { title: 'tool builder', load: async () => (await import('@mrtr/option-g')).option },
  'option-h': { title: 'linear continuation', load: async () => (await import('@mrtr/option-h')).option },
  'option-i': { title: 'resolver injection', load: async () => (await import('@mrtr/option-i')).option },
  'option-j': { title: 'journaled await', load: async () => (await import('@mrtr/option-j')).option },
} as const satisfies Record<string, { title: string; load: () => Promise<Option> }>;

// `option-h` with its calls in a database; a table of its own in the matrix, and no letter.
const loadOnPostgres = async () => (await import('@mrtr/option-h-postgres')).postgres;

// The programs that stand alone, and know nothing of options.
const PROGRAMS = {
  basic: {
    title: 'one question, one retry',
    load: async () => (await import('@mrtr/demo-basic')).createServer,
  },
  'basic-multiround': {
    title: 'two dependent rounds',
    load: async () => (await import('@mrtr/demo-basic-multiround')).createServer,
  },
} as const;

// The demos that show one thing in several shapes, by the shapes' letters.
const IN_SHAPES = {
  'prompt-and-resource': {
    title: 'each asks a user',
    shapes: ['f', 'h', 'i', 'j'],
    load: async () => (await import('@mrtr/demo-prompt-and-resource')).SHAPES,
  },
  'sampling-and-roots': {
    title: 'a tool needs both',
    shapes: ['i', 'j'],
    load: async () => (await import('@mrtr/demo-sampling-and-roots')).SHAPES,
  },
} as const;

// The demos that draw themselves, and can be run in one way only.
const FIXED = {
  sticky: 'option H behind HAProxy',
  'fleet-of-three': 'a process dies between two questions',
  tracing: "a call's OpenTelemetry spans",
} as const;

/** The name of an option, which has both tools and is one of `all`. */
export type OptionName = keyof typeof OPTIONS;

/** The name of a demo in several shapes. */
export type InShapesName = keyof typeof IN_SHAPES;

/** The name of a demo that takes no options. */
export type FixedName = keyof typeof FIXED;

/** The name of a demo with {@link Subject}s, which can be run on any client and hosting. */
export type Name = keyof typeof PROGRAMS | InShapesName | OptionName;

/** The names of the options. */
export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];

/** The names of the demos in several shapes. */
export const IN_SHAPES_NAMES = Object.keys(IN_SHAPES) as readonly InShapesName[];

const DEMOS = { ...PROGRAMS, ...OPTIONS, ...IN_SHAPES };

/** The names of all demos that take options. */
export const NAMES = Object.keys(DEMOS) as readonly Name[];

/** Everything that can be run, and what it is in a word or two. */
export const TITLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(NAMES.map((name) => [name, DEMOS[name].title])),
  ...FIXED,
  all: 'every option, one line each',
};

/** Whether there is a demo of this name that takes options. */
export const isName = (name: string): name is Name => (NAMES as readonly string[]).includes(name);

/** Whether there is a demo of this name that takes none. */
export const isFixed = (name: string): name is FixedName => Object.hasOwn(FIXED, name);

/** Whether this demo is an option. */
export const isOption = (name: Name): name is OptionName => Object.hasOwn(OPTIONS, name);

const isInShapes = (name: Name): name is InShapesName => Object.hasOwn(IN_SHAPES, name);

/** The letters of a demo's shapes; none where it has only one. */
export const shapesOf = (name: Name): readonly string[] => (isInShapes(name) ? IN_SHAPES[name].shapes : []);

/** What a demo is, in a word or two. */
export const titleOf = (name: Name): string => DEMOS[name].title;

/** Where an option keeps its calls between rounds; other than in memory, if it is H. */
export type Store = 'memory' | 'postgres';

/** `option F · once`, `option H on PostgreSQL`, or `basic · one question, one retry`. */
export const headingOf = (name: Name, store: Store = 'memory'): string =>
  store === 'postgres'
    ? `option ${letterOf(name as OptionName)} on PostgreSQL`
    : `${isOption(name) ? `option ${letterOf(name)}` : name} · ${titleOf(name)}`;

/** An option's letter, as we write it. */
export const letterOf = (name: OptionName): string => name.slice('option-'.length).toUpperCase();

/** The demo itself: one subject, or one for each of its shapes, of which `shape` picks one. */
export async function loadSubjects(name: Name, shape?: string, store?: Store): Promise<readonly Subject[]> {
  if (isOption(name)) return [await loadOption(name, store)];
  if (isInShapes(name)) {
    const subjects = await IN_SHAPES[name].load();
    return subjects.filter(({ id }) => shape === undefined || id === shape);
  }
  const { standalone } = await import('@mrtr/tests/matrix');
  return [standalone(name, titleOf(name), await PROGRAMS[name].load())];
}

/** An option, with its claims. */
export const loadOption = (name: OptionName, store: Store = 'memory'): Promise<Option> =>
  store === 'postgres' ? loadOnPostgres() : OPTIONS[name].load();

/** Every option. */
export const loadOptions = (): Promise<readonly Option[]> =>
  Promise.all(OPTION_NAMES.map((name) => loadOption(name)));

const require = createRequire(import.meta.url);

/** Where another process finds an option or its variant, such as E's `e-naive`: the package, and what it exports. */
export function moduleOf({ id }: Pick<Option, 'id'>): SubjectModule {
  const [letter, variant = 'option'] = id.split('-');
  const onPostgres = id === 'h-postgres';
  const module = pathToFileURL(require.resolve(`@mrtr/option-${onPostgres ? id : letter}`)).href;
  const url = process.env[POSTGRES_VARIABLE];
  return {
    module,
    name: variant,
    ...(onPostgres && url !== undefined && { env: { [POSTGRES_VARIABLE]: url } }),
  };
}
