/** The command line of `pnpm demo`. */
import { CHANGE_NAMES, type Change } from '@mrtr/comparison/claims';
import type { AnswerKind } from '@mrtr/comparison/demo';
import { type Database, databaseOf } from '@mrtr/postgres-server/database';
import { Option, type OptionValues } from 'commander';
import { DEMOS, type Flag, type ListedDemo } from './catalog.ts';
import { command, type Format, formatOf, jsonOption, oneOf, parseArgs } from './command-line.ts';
import type { Environment, Terminal } from './terminal.ts';

/** The settings of a demo. */
export interface Settings {
  readonly tool: 'weather' | 'work-item';
  readonly client: 'modern' | 'legacy' | 'modern-only';
  readonly hosting: 'memory' | 'fleet';
  readonly answer: AnswerKind | 'ask';
  readonly legacy: 'shim' | 'degrade';
  readonly format: Format;
  /** The letter of the one shape to show; undefined for all. */
  readonly shape?: string | undefined;
  readonly deploy?: Change | undefined;
  /** The database for the calls of option H; undefined for this process's memory. */
  readonly database?: Database | undefined;
}

/** The parsed command line; undefined for the help, which has been printed. */
type Asked = { readonly demo: ListedDemo; readonly settings: Settings } | undefined;

const CLIENTS = `
Clients:
  modern       speaks 2026-07-28
  legacy       the published v1 SDK, which speaks 2025-11-25
  modern-only  modern, and refuses to fall back
`;

const ANSWERS = `
Answers:
  metric       metric; work item: Duplicate of 4301; basic: Deploy;
               prompt: developers; resource: EUR
  imperial     imperial; work item: Fixed; basic: Do not deploy;
               prompt: customers; resource: USD
  decline      says no
  cancel       dismisses the question
  nonsense     first an answer that does not fit, then as for metric
  ask          you are the user, here; you may also type decline
               or cancel, and the end of input is a cancel
`;

const SERVER = `
A demo's own --help lists its options.

A server of yours, or anybody's:
  --server <url | command> --tool NAME --arguments '{"a":1}'
                            calls its tool; you answer its questions. A call
                            without --tool ends with an error that lists the
                            tools. The command gets this environment, and
                            'NAME=value command' adds to it
  --client, --json, --mermaid
                            as for a demo
  --answer <kind>           ask, decline or cancel
  --header 'Name: value'    for its address; may be given again
  --save <file>             write the transcript; the page of pnpm lab opens it
`;

const FLAGS: Readonly<Record<Flag, (demo: ListedDemo) => Option>> = {
  tool: () => oneOf('--tool <name>', "which of an option's two tools", ['weather', 'work-item']),
  shape: ({ shapes = [] }) =>
    new Option('--shape <letter>', `one shape alone; without it, ${shapes.join(' and ')}`).choices(shapes),
  client: () => oneOf('--client <kind>', 'see below', ['modern', 'legacy', 'modern-only']),
  hosting: () => oneOf('--hosting <kind>', 'one instance, or three stateless ones', ['memory', 'fleet']),
  answer: () =>
    oneOf('--answer <kind>', 'see below', ['metric', 'imperial', 'decline', 'cancel', 'nonsense', 'ask']),
  legacy: () =>
    oneOf('--legacy <policy>', "an old client is asked by the SDK's shim, or not", ['shim', 'degrade']),
  postgres: () =>
    new Option(
      '--postgres [url]',
      'keep its calls in this PostgreSQL, in that of MRTR_POSTGRES, or in one that is started',
    ),
  deploy: () =>
    new Option('--deploy <change>', 'another tool, of which version 2 is deployed between two rounds')
      .choices(CHANGE_NAMES)
      // It has a client and a user of its own.
      .conflicts(['tool', 'client', 'hosting', 'answer', 'legacy']),
  json: jsonOption,
  mermaid: () => new Option('--mermaid', 'print the transcript as a Mermaid diagram, and nothing else'),
};

/** Throws a UsageError for an unknown name, option or value, and for options that do not go together. */
export function readArgs(args: readonly string[], terminal: Pick<Terminal, 'env' | 'stdout'>) {
  let asked: Asked;
  const line = command(
    'demo',
    '<name> [options]',
    'Makes a call with a real client, and draws it.',
    terminal,
  );
  for (const demo of DEMOS) {
    const one = line.command(demo.name).description(demo.title);
    if (demo.option) one.aliases([demo.option.id, demo.option.word]);
    for (const flag of demo.takes) one.addOption(FLAGS[flag](demo));
    if (demo.takes.includes('client')) one.addHelpText('after', CLIENTS);
    if (demo.takes.includes('answer')) one.addHelpText('after', ANSWERS);
    one.action((flags) => {
      asked = { demo, settings: settingsOf(flags, terminal.env) };
    });
  }
  return parseArgs(line.addHelpText('after', SERVER), args) ? asked : undefined;
}

function settingsOf(flags: OptionValues, env: Environment): Settings {
  // A demo that takes no such flag runs as by default.
  const { tool = 'weather', client = 'modern', hosting = 'memory', answer = 'metric' } = flags;
  const { legacy = 'shim', shape, deploy, postgres } = flags;
  const database = postgres === undefined ? undefined : databaseOf(postgres, env);
  return { tool, shape, client, hosting, answer, legacy, format: formatOf(flags), deploy, database };
}
