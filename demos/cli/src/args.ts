/** The command line of `pnpm demo`. */
import { CHANGE_NAMES } from '@mrtr/matrix/deploy/changes';
import type { Change } from '@mrtr/option/deploys';
import { Option, type Command as Program } from 'commander';
import { DEMOS, type Demo, findDemo, LETTERED } from './catalog.ts';
import {
  command,
  exists,
  further,
  isGiven,
  oneOf,
  parseArgs,
  soleName,
  UsageError,
  unknown,
} from './command-line.ts';
import { type Database, databaseOf, withStore } from './database.ts';
import { formatOf, SERVER_FLAGS, type ServerCall, serverCall } from './server-call.ts';
import type { Environment, Terminal } from './terminal.ts';

export interface Settings {
  readonly tool: 'weather' | 'work-item';
  readonly client: 'modern' | 'legacy' | 'modern-only';
  readonly hosting: 'memory' | 'fleet';
  readonly answer: 'metric' | 'imperial' | 'decline' | 'cancel' | 'nonsense' | 'ask';
  readonly legacy: 'shim' | 'degrade';
  /** A drawing for the terminal, the transcript, or the transcript as a Mermaid diagram. */
  readonly format: 'drawing' | 'json' | 'mermaid';
  /** The letter of the one shape to show; undefined for all. */
  readonly shape?: string | undefined;
  readonly deploy?: Change | undefined;
  /** Where the calls of option H are kept; undefined for the memory of this process. */
  readonly database?: Database | undefined;
}

/** The parsed command line; undefined for the help, which has been printed. */
export type Asked =
  | { readonly demo: Demo; readonly settings: Settings }
  | { readonly list: true }
  | ServerCall
  | undefined;

const NAMES = `
Names:
  basic, basic-multiround   where to start: one question; two dependent ones
  option-${LETTERED[0]?.id} … option-${LETTERED.at(-1)?.id}       the same two tools, in every handler shape; also by
                            letter and word: g, tool-builder
  prompt-and-resource       a prompt and a resource that ask, in four shapes
  sampling-and-roots        a tool that asks the client's model, in two
  link-account              a tool that has its user link an account on another
                            site, in three
  approve                   a tool that writes after a yes, in two; takes
                            --shape only
  sticky                    option H behind HAProxy; takes no options
  fleet-of-three            a process is killed between two questions; takes
                            --postgres only
  tracing                   a call's OpenTelemetry spans; takes no options
  all                       every option, one line each

A server of yours, or anybody's:
  --server <url | command> --tool NAME --arguments '{"a":1}'
                            calls its tool; you answer its questions. Without
                            --tool it lists the tools. The command gets this
                            environment, and 'NAME=value command' adds to it

Clients:
  modern       speaks 2026-07-28
  legacy       the published v1 SDK, which speaks 2025-11-25
  modern-only  modern, and refuses to fall back

Answers:
  metric       metric; work item: Duplicate of 4301; basic: yes;
               prompt: developers; resource: EUR
  imperial     imperial; work item: Fixed; basic: no;
               prompt: customers; resource: USD
  decline      says no
  cancel       dismisses the question
  nonsense     first an answer that does not fit, then as for metric
  ask          you are the user, here; you may also type decline
               or cancel, and the end of input is a cancel
With --server: ask, which is the default there, decline or cancel.
`;

const TOOLS: readonly string[] = ['weather', 'work-item'] satisfies Settings['tool'][];

const program = () =>
  command('demo <name> [options]', 'Runs one tool against a real client and draws the conversation.')
    .argument('[names...]')
    .option('--tool <name>', "which of an option's two tools: weather, work-item", TOOLS[0])
    .option('--shape <letter>', 'which shape of a demo that is in several: f, h, i, j')
    .addOption(oneOf('--client <kind>', 'see below', ['modern', 'legacy', 'modern-only']))
    .addOption(oneOf('--hosting <kind>', 'one instance, or three stateless ones', ['memory', 'fleet']))
    .addOption(
      oneOf('--answer <kind>', 'see below', ['metric', 'imperial', 'decline', 'cancel', 'nonsense', 'ask']),
    )
    .addOption(
      oneOf('--legacy <policy>', "an old client is asked by the SDK's shim, or not", ['shim', 'degrade']),
    )
    .addOption(oneOf('--store <kind>', 'where option-h keeps its calls', ['memory', 'postgres']))
    .option('--postgres <url>', 'a PostgreSQL; otherwise MRTR_POSTGRES, or one that is started')
    .addOption(
      new Option(
        '--deploy <change>',
        'another tool, of which version 2 is deployed between two rounds',
      ).choices(CHANGE_NAMES),
    )
    .addOption(new Option('--json', 'print the transcript, and nothing else').conflicts('mermaid'))
    .option('--mermaid', 'print the transcript as a Mermaid diagram, and nothing else')
    .option('--server <server>', 'call a tool of this server instead, see below')
    .option('--arguments <json>', 'the arguments of its tool')
    .option('--header <line>', "for its address, as 'Name: value'; may be given again", further)
    .option('--list', 'print the names')
    .addHelpText('after', NAMES);

/** Throws a UsageError for an unknown name, option or value, and for options that do not go together. */
export function readArgs(args: readonly string[], terminal: Pick<Terminal, 'env' | 'stdout'>): Asked {
  const line = program();
  if (!parseArgs(line, args, terminal)) return undefined;
  if (line.opts().list) return { list: true };
  if (line.opts().server !== undefined) {
    refuseStray(line, { name: '--server', takes: SERVER_FLAGS });
    return serverCall(line, terminal.env);
  }
  const names = DEMOS.map(({ name }) => name);
  const name = soleName('demo', line.args, names);
  const demo = findDemo(name);
  if (!demo) throw new UsageError(unknown(`There is no demo '${name}'.`, name, 'Names', names));
  refuseStray(line, demo);
  if (isGiven(line, 'deploy')) refuseStray(line, { name: `${demo.name} --deploy`, takes: WITH_DEPLOY });
  const { tool, shape, client, hosting, answer, legacy, json, mermaid, deploy } = line.opts();
  if (shape !== undefined && !demo.shapes?.includes(shape)) {
    throw new UsageError(`--shape cannot be '${shape}'. ${exists('Values', demo.shapes ?? [])}`);
  }
  if (!TOOLS.includes(tool)) throw new UsageError(`--tool cannot be '${tool}'. ${exists('Values', TOOLS)}`);
  if (demo.name === 'all' && answer === 'ask')
    throw new UsageError("'ask' goes with one demo, not with 'all'.");
  const format = formatOf(json, mermaid);
  const database = databaseFor(demo, line, terminal.env);
  return { demo, settings: { tool, shape, client, hosting, answer, legacy, format, deploy, database } };
}

/** A deploy is of a tool of its own, with a client and a user of its own. */
const WITH_DEPLOY: Demo['takes'] = ['deploy', 'store', 'postgres', 'json', 'mermaid'];

function refuseStray(line: Program, { name, takes }: { name: string; takes: readonly string[] }): void {
  const stray = line.options
    .map((option) => option.attributeName())
    .find((flag) => isGiven(line, flag) && !takes.includes(flag));
  if (stray === undefined) return;
  const taken = takes.length === 0 ? 'no options' : `only ${takes.map((flag) => `--${flag}`).join(', ')}`;
  throw new UsageError(`'${name}' takes ${taken}; remove --${stray}.`);
}

function databaseFor({ name, takes }: Demo, line: Program, env: Environment) {
  const { store, postgres } = line.opts();
  if (name === 'fleet-of-three') return databaseOf(postgres, env);
  return takes.includes('store') ? withStore(store, postgres, env) : undefined;
}
