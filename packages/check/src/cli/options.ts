/** The options of the command line, and their parser. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { FORMATS, type ReportFormat } from '../report/formats.ts';
import { MAX_SECONDS } from '../run/run.ts';
import { DEFAULTS, UsageError } from '../target/target.ts';

const FORMAT_NAMES = Object.keys(FORMATS).join(', ');

export interface Wanted {
  readonly format: ReportFormat;
  readonly file?: string;
}

/** Thrown for `--help`. Its message is the help text. */
export class Help extends Error {}

const EXAMPLES = `
Examples:
  mrtr-check --tool plan_trip --answer 'city="Tokyo"' http://localhost:3000/mcp
  mrtr-check --tool deploy --arguments '{"env":"staging"}' --answer sure=true \\
      --probe tool:deploy_count --allow-effects -- node server.mjs
  mrtr-check --tool deploy --generate-answers -- node server.mjs --port {port}
  mrtr-check --tool deploy --answer sure=true --only deploy --allow-effects \\
      --next 'cd ../v2 && node server.mjs --port {port}' -- node server.mjs --port {port}

A command with {port} serves HTTP, and is started once for each instance. Without {port} it serves stdio.
Exit codes: 0 nothing failed, 1 a check failed, 2 usage, 3 a check could not decide.`;

/** Parses the command line. @throws UsageError with the reason, or {@link Help} after `--help` */
export const parseCommandLine = (argv: readonly string[]): CommandLine =>
  // pnpm passes on the `--` with which the user separates the program's options.
  parse(argv[0] === '--' && argv.length > 1 ? argv.slice(1) : argv, [...TARGET_OPTIONS, ...LINE_OPTIONS]);

/** Parses the options of one target. @throws UsageError with the reason */
export const parseTarget = (words: readonly string[]): CommandLine => parse(words, TARGET_OPTIONS);

function parse(words: readonly string[], options: readonly Described[]): CommandLine {
  const cut = words.indexOf('--');
  const own = cut < 0 ? words : words.slice(0, cut);
  const command = cut < 0 ? undefined : words.slice(cut + 1);
  if (command?.length === 0) throw new UsageError('There is no command after --.');
  let help = '';
  const program = commandWithOptions(options, (text) => {
    help += text;
  });
  try {
    program.parse([...own], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) throw new Help(help);
    throw new UsageError(`${(error as Error).message.replace(/^error: /, '')}\n--help lists the options.`);
  }
  const [url] = program.args;
  return { ...program.opts(), ...(url !== undefined && { url }), ...(command && { command }) };
}

function commandWithOptions(options: readonly Described[], writeOut: (text: string) => void) {
  const program = new Command('mrtr-check')
    .description('Checks whether an MCP server is safe when one of its tools asks the user (2026-07-28).')
    .argument('[url]', 'the address of the server; {port} stands for the port of a started one')
    .usage('[options] <url>  |  [options] -- <command> [arguments…]')
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut })
    .configureHelp({ helpWidth: 110 })
    .addHelpText('after', EXAMPLES);
  for (const [flags, kind, description] of options) {
    const option = new Option(flags, description);
    const parse = PARSERS[kind];
    program.addOption(
      parse ? option.argParser(parse as (value: string, previous: unknown) => unknown) : option,
    );
  }
  return program;
}

const append = (value: string, previous: readonly string[] = []) => [...previous, value];
const json = (value: string): unknown => {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${(error as Error).message}.`);
  }
};
/** A day, in seconds. Timers have a limit of some weeks. */
const DAY = 86_400;
const number =
  (least: number, most = Number.POSITIVE_INFINITY) =>
  (value: string) => {
    const read = Number(value);
    if (value.trim() === '' || !Number.isFinite(read) || read < least)
      throw new InvalidArgumentError(`It has to be a number of at least ${least}.`);
    if (read > most) throw new InvalidArgumentError(`It has to be a number of at most ${most}.`);
    return read;
  };

const ids = (value: string, previous: readonly string[] = []) => [
  ...previous,
  ...value
    .split(',')
    .map((id) => id.trim())
    .filter(Boolean),
];

function addFormat(value: string, previous: readonly Wanted[] = []) {
  const [format = '', ...file] = value.split('=');
  if (!Object.hasOwn(FORMATS, format))
    throw new InvalidArgumentError(`It has to be one of ${FORMAT_NAMES}, with =FILE for a file.`);
  return [...previous, { format: format as ReportFormat, ...(file.length > 0 && { file: file.join('=') }) }];
}

interface Kinds {
  readonly text: string;
  readonly texts: readonly string[];
  readonly ids: readonly string[];
  readonly yes: boolean;
  readonly number: number;
  readonly seconds: number;
  readonly object: unknown;
  readonly formats: readonly Wanted[];
}
type Described = readonly [flags: string, kind: keyof Kinds, description: string];
const PARSERS: Partial<Record<keyof Kinds, (value: string, previous: never) => unknown>> = {
  ...{ texts: append, ids, formats: addFormat, object: json },
  ...{ number: number(0), seconds: number(0.05, DAY) },
};

const TARGET_OPTIONS = [
  ['--tool <name>', 'text', 'the tool to call'],
  ['--prompt <name>', 'text', 'the prompt that is called, instead of a tool'],
  ['--resource <uri>', 'text', 'the resource that is read, instead of a tool'],
  ['--arguments <json>', 'object', 'its arguments'],
  ['--other-arguments <json>', 'object', 'a second valid set; otherwise made from the input schema'],
  ['--other-operation <kind:name[ json]>', 'text', 'a second operation that asks; it gets foreign state'],
  ['--answer <key=json>', 'texts', 'the content for the question with this key; * for every other'],
  ['--answers <file>', 'text', 'answers from a JSON file: an object, by key'],
  ['--generate-answers', 'yes', 'generates answers from the asked schema'],
  ['--probe <what>', 'text', 'shows effects: tool:NAME[ JSON], url:URL or cmd:COMMAND'],
  [
    '--vary <what>',
    'texts',
    'the argument that is new in each call: NAME, NAME=[…], or a JSON file of lists',
  ],
  ['--header <line>', 'texts', "'Name: value', the principal; repeatable"],
  ['--other-header <line>', 'texts', 'the same for a second principal'],
  ['--also <url>', 'text', 'a second instance of the same server'],
  ['--restart <command>', 'text', 'restarts a server that the checker did not start'],
  ['--next <command or url>', 'text', 'the new version, started in a shell: calls cross between the two'],
  ['--ttl <seconds>', 'number', 'the time to live of state; the run waits for it'],
  ['--one-time', 'yes', 'one approval allows one effect'],
  ['--needs-consent', 'yes', 'the effect needs consent: findings of consent.* are fails'],
  ['--allow-effects', 'yes', 'allows calls of a tool that is not declared read-only'],
  ['--only <ids>', 'ids', 'only these checks, separated by commas; `state` means all of state.*'],
  ['--quick', 'yes', 'the gravest checks that end within a minute; the card says what was left out'],
  ['--seed <number>', 'number', 'the seed of generated values'],
  ['--timeout <seconds>', 'seconds', `for one answer (default: ${DEFAULTS.timeoutSeconds})`],
  ['--max-time <seconds>', 'seconds', `for the whole run (default: ${MAX_SECONDS}, beside --ttl)`],
  ['--strict', 'yes', 'a SHOULD counts as a MUST'],
  ['--complete', 'yes', 'an input that was not given counts as undecided'],
  ['--baseline <file>', 'text', 'accepted findings; it is an error if one is no longer found'],
] as const satisfies readonly Described[];

const LINE_OPTIONS = [
  ['--find', 'yes', 'lists tools, prompts and resources, and tries the read-only ones: which ask?'],
  ['--init', 'yes', 'writes mrtr-check.json from the options, asks for missing ones, and runs once'],
  ['--github', 'yes', 'with --init: writes a workflow too'],
  ['--list', 'yes', 'prints the checks'],
  ['--dry-run', 'yes', 'prints the requests that a run would send, and sends none'],
  ['--report <format[=file]>', 'formats', FORMAT_NAMES],
  ['--source <folder>', 'text', 'with sarif: the folder of the code, to place findings at the tool'],
  ['--json', 'yes', 'prints the JSON report and nothing else'],
  ['--config <file>', 'text', 'several targets: { "targets": [ { "tool": … } ] }'],
] as const satisfies readonly Described[];

type Camel<Name> = Name extends `${infer Word}-${infer Rest}` ? `${Word}${Capitalize<Camel<Rest>>}` : Name;
type NameIn<Flags> = Flags extends `--${infer Name} <${string}`
  ? Camel<Name>
  : Flags extends `--${infer Name}`
    ? Camel<Name>
    : never;
type Read<Options extends readonly Described[]> = {
  readonly [One in Options[number] as NameIn<One[0]>]?: Kinds[One[1]];
};

export type TargetOptions = Read<typeof TARGET_OPTIONS>;

export interface CommandLine extends TargetOptions, Read<typeof LINE_OPTIONS> {
  readonly url?: string;
  readonly command?: readonly string[];
}
