/** The command line: what can be said, and what is said of anything else. */
import { parseArgs } from 'node:util';
import {
  type FixedName,
  IN_SHAPES_NAMES,
  isFixed,
  isName,
  isOption,
  type Name,
  OPTION_NAMES,
  shapesOf,
  TITLES,
} from './catalog.ts';
import { type Database, databaseOf } from './database.ts';
import { UsageError, whatIsWrong } from './usage-error.ts';

const VALUES = {
  tool: ['weather', 'work-item'],
  client: ['modern', 'legacy', 'modern-only'],
  hosting: ['memory', 'fleet'],
  answer: ['metric', 'imperial', 'decline', 'cancel', 'nonsense', 'ask'],
  legacy: ['shim', 'degrade'],
  store: ['memory', 'postgres'],
} as const;

type Choices = { readonly [Key in keyof typeof VALUES]: (typeof VALUES)[Key][number] };

/** How to run a demo. */
export type Settings = Omit<Choices, 'store'> & {
  readonly json: boolean;
  /** The letter of the one shape to show; undefined for all. */
  readonly shape?: string | undefined;
  /** Where the calls of option H are kept; undefined for the memory of this process. */
  readonly database?: Database | undefined;
};

/** What the command line asks for. */
export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'list' }
  | { readonly kind: 'all'; readonly settings: Settings }
  | { readonly kind: 'fixed'; readonly name: FixedName; readonly database?: Database }
  | { readonly kind: 'demo'; readonly name: Name; readonly settings: Settings };

/** The text of `--help`. */
export const HELP = `Usage: pnpm demo <name> [options]

Runs one tool against a real client and draws the conversation.

Names
  basic, basic-multiround   where to start: one question; two dependent ones
  ${OPTION_NAMES[0]} … ${OPTION_NAMES.at(-1)}       the same two tools, in every handler shape
  prompt-and-resource       a prompt and a resource that ask, in four shapes
  sampling-and-roots        a tool that asks the client's model, in two
  sticky                    option H behind HAProxy; takes no options
  fleet-of-three            a process is killed between two questions; takes
                            --postgres only
  tracing                   a call's OpenTelemetry spans; takes no options
  all                       every option, one line each

Options
  --tool     weather | work-item             (default: weather)
             which of an option's two tools
  --shape    f | h | i | j                   (default: all that there are)
             which shape of the two demos that are in several
  --client   modern | legacy | modern-only   (default: modern)
             modern       speaks 2026-07-28
             legacy       the published v1 SDK, which speaks 2025-11-25
             modern-only  modern, and refuses to fall back
  --hosting  memory | fleet                  (default: memory)
             memory       one instance in this process
             fleet        three stateless ones, nothing shared but the key
  --answer   what the user does              (default: metric)
             metric       metric; work item: Duplicate of 4301; basic: yes;
                          prompt: developers; resource: EUR
             imperial     imperial; work item: Fixed; basic: no;
                          prompt: customers; resource: USD
             decline      says no
             cancel       dismisses the question
             nonsense     first what does not fit, then as for metric
             ask          you are the user, here; you may also type decline
                          or cancel, and the end of input is a cancel
  --legacy   shim | degrade                  (default: degrade)
             what an old client gets: asked by the SDK's shim, or not asked
  --store    memory | postgres               (default: memory)
             where option-h keeps its calls
  --postgres URL         a PostgreSQL to use; otherwise what MRTR_POSTGRES
             names, or one that is started for the run
  --json     prints the transcript as JSON, and nothing else
  --list     prints the names, and what each one is
  --help     prints this
`;

/**
 * Reads the arguments after the program's name, and from `env` which database there is.
 *
 * @throws UsageError for an unknown name, flag or value, and for what does not go together.
 */
export function readArgs(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Command {
  const { values, positionals } = parse(args);
  if (values.help) return { kind: 'help' };
  if (values.list) return { kind: 'list' };
  const [name, ...more] = positionals;
  if (name === undefined) throw new UsageError(`Which demo? ${exists('Names', Object.keys(TITLES))}`);
  if (name !== 'all' && !isName(name) && !isFixed(name)) {
    throw new UsageError(`There is no demo '${name}'. ${exists('Names', Object.keys(TITLES))}`);
  }
  if (more.length > 0) throw new UsageError(`One demo at a time: '${more[0]}' is one too many.`);
  if (isFixed(name)) {
    const onDatabase = name === 'fleet-of-three';
    const flag = Object.keys(values).find((given) => !onDatabase || given !== 'postgres');
    const takes = onDatabase ? 'no options but --postgres' : 'no options';
    if (flag !== undefined) throw new UsageError(`'${name}' takes ${takes}: '--${flag}' is too much.`);
    return { kind: 'fixed', name, ...(onDatabase && { database: databaseOf(values.postgres, env) }) };
  }
  if (values.tool !== undefined && name !== 'all' && !isOption(name)) {
    throw new UsageError(`'${name}' is no option: --tool goes with the options.`);
  }
  if (values.answer !== undefined && name === 'sampling-and-roots') {
    throw new UsageError(`'${name}' asks a model, and no user: --answer does not go with it.`);
  }
  const settings: Settings = {
    database: databaseWith(choice('store', values.store, 'memory'), { ...values, name }, env),
    shape: shape(name === 'all' ? [] : shapesOf(name), values.shape, name),
    tool: choice('tool', values.tool, 'weather'),
    client: choice('client', values.client, 'modern'),
    hosting: choice('hosting', values.hosting, 'memory'),
    answer: choice('answer', values.answer, 'metric'),
    legacy: choice('legacy', values.legacy, 'degrade'),
    json: values.json ?? false,
  };
  if (name !== 'all') return { kind: 'demo', name, settings };
  if (settings.answer === 'ask') throw new UsageError("'ask' goes with one demo, not with 'all'.");
  return { kind: 'all', settings };
}

const OPTIONS = {
  tool: { type: 'string' },
  shape: { type: 'string' },
  client: { type: 'string' },
  hosting: { type: 'string' },
  answer: { type: 'string' },
  legacy: { type: 'string' },
  store: { type: 'string' },
  postgres: { type: 'string' },
  json: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

function parse(args: readonly string[]) {
  try {
    // A literal `--` is passed on by some package managers, and separates nothing here.
    return parseArgs({
      args: args.filter((arg) => arg !== '--'),
      options: OPTIONS,
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const flags = Object.keys(OPTIONS).map((flag) => `--${flag}`);
    throw new UsageError(`${whatIsWrong(error)} ${exists('Options', flags)}`);
  }
}

function choice<Key extends keyof Choices>(
  flag: Key,
  value: string | undefined,
  otherwise: Choices[Key],
): Choices[Key] {
  if (value === undefined) return otherwise;
  const known: readonly string[] = VALUES[flag];
  if (known.includes(value)) return value as Choices[Key];
  throw new UsageError(`--${flag} cannot be '${value}'. ${exists('Values', known)}`);
}

/**
 * Where the calls are kept that `store` names.
 *
 * @throws UsageError where only the memory would do.
 */
export function databaseWith(
  chosen: 'memory' | 'postgres',
  given: {
    readonly name: string;
    readonly store?: string | undefined;
    readonly postgres?: string | undefined;
  },
  env: Readonly<Record<string, string | undefined>>,
): Database | undefined {
  const flag =
    given.store !== undefined ? '--store' : given.postgres !== undefined ? '--postgres' : undefined;
  if (flag !== undefined && given.name !== 'option-h') {
    throw new UsageError(`'${given.name}' keeps no calls: ${flag} goes with option-h.`);
  }
  if (chosen === 'postgres') return databaseOf(given.postgres, env);
  if (flag === undefined || given.postgres === undefined) return undefined;
  throw new UsageError('--postgres goes with --store postgres.');
}

function shape(known: readonly string[], value: string | undefined, name: string): string | undefined {
  if (value === undefined || known.includes(value)) return value;
  if (known.length > 0) throw new UsageError(`--shape cannot be '${value}'. ${exists('Values', known)}`);
  throw new UsageError(
    `'${name}' is not in several shapes: --shape goes with ${IN_SHAPES_NAMES.join(' and ')}.`,
  );
}

const exists = (what: string, names: readonly string[]): string => `${what}: ${names.join(', ')}.`;
