/** The options of the command line, and their parser. */
import {
  Command,
  CommanderError,
  InvalidArgumentError,
  type OptionValues,
} from '@commander-js/extra-typings';
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
export const parseCommandLine = (argv: readonly string[]) =>
  // pnpm passes on the `--` with which the user separates the program's options.
  parse(argv[0] === '--' && argv.length > 1 ? argv.slice(1) : argv, lineProgram());

/** Parses the options of one target. @throws UsageError with the reason */
export const parseTarget = (words: readonly string[]) => parse(words, targetProgram());

function parse<Options extends OptionValues>(
  words: readonly string[],
  program: Command<[string | undefined], Options>,
) {
  const cut = words.indexOf('--');
  const own = cut < 0 ? words : words.slice(0, cut);
  const command = cut < 0 ? undefined : words.slice(cut + 1);
  if (command?.length === 0) throw new UsageError('There is no command after --.');
  let help = '';
  const writeOut = (text: string) => {
    help += text;
  };
  program.exitOverride().configureOutput({ writeErr: () => {}, writeOut });
  try {
    program.parse([...own], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) throw new Help(help);
    throw new UsageError(`${(error as Error).message.replace(/^error: /, '')}\n--help lists the options.`);
  }
  const [url] = program.args;
  return { ...program.opts(), ...(url !== undefined && { url }), ...(command && { command }) };
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

const targetProgram = () =>
  new Command('mrtr-check')
    .description('Checks whether an MCP server is safe when one of its tools asks the user (2026-07-28).')
    .argument('[url]', 'the address of the server; {port} stands for the port of a started one')
    .usage('[options] <url>  |  [options] -- <command> [arguments…]')
    .allowExcessArguments(false)
    .configureHelp({ helpWidth: 110 })
    .addHelpText('after', EXAMPLES)
    .option('--tool <name>', 'the tool to call')
    .option('--prompt <name>', 'the prompt that is called, instead of a tool')
    .option('--resource <uri>', 'the resource that is read, instead of a tool')
    .option('--arguments <json>', 'its arguments', json)
    .option('--other-arguments <json>', 'a second valid set; otherwise made from the input schema', json)
    .option('--other-operation <kind:name[ json]>', 'a second operation that asks; it gets foreign state')
    .option('--answer <key=json>', 'the content for the question with this key; * for every other', append)
    .option('--answers <file>', 'answers from a JSON file: an object, by key')
    .option('--generate-answers', 'generates answers from the asked schema')
    .option('--probe <what>', 'shows effects: tool:NAME[ JSON], url:URL or cmd:COMMAND')
    .option(
      '--vary <what>',
      'the argument that is new in each call: NAME, NAME=[…], or a JSON file of lists',
      append,
    )
    .option('--header <line>', "'Name: value', the principal; repeatable", append)
    .option('--other-header <line>', 'the same for a second principal', append)
    .option('--also <url>', 'a second instance of the same server')
    .option('--restart <command>', 'restarts a server that the checker did not start')
    .option('--next <command or url>', 'the new version, started in a shell: calls cross between the two')
    .option('--ttl <seconds>', 'the time to live of state; the run waits for it', number(0))
    .option('--one-time', 'one approval allows one effect')
    .option('--needs-consent', 'the effect needs consent: findings of consent.* and answer.unasked are fails')
    .option('--allow-effects', 'allows calls of a tool that is not declared read-only')
    .option('--only <ids>', 'only these checks, separated by commas; `state` means all of state.*', ids)
    .option('--quick', 'the gravest checks that end within a minute; the card says what was left out')
    .option('--seed <number>', 'the seed of generated values', number(0))
    .option('--timeout <seconds>', `for one answer (default: ${DEFAULTS.timeoutSeconds})`, number(0.05, DAY))
    .option(
      '--max-time <seconds>',
      `for the whole run (default: ${MAX_SECONDS}, beside --ttl)`,
      number(0.05, DAY),
    )
    .option('--strict', 'a SHOULD counts as a MUST')
    .option('--complete', 'an input that was not given counts as undecided')
    .option('--baseline <file>', 'accepted findings; it is an error if one is no longer found');

const lineProgram = () =>
  targetProgram()
    .option(
      '--find',
      'lists tools, prompts and resources, and calls the read-only ones (with --allow-effects, all): which ask?',
    )
    .option('--init', 'writes mrtr-check.json from the options, asks for missing ones, and runs once')
    .option('--github', 'with --init: writes a workflow too')
    .option('--list', 'prints the checks')
    .option('--dry-run', 'prints the requests that a run would send, and sends none')
    .option('--report <format[=file]>', FORMAT_NAMES, addFormat)
    .option('--source <folder>', 'with sarif: the folder of the code, to place findings at the tool')
    .option('--json', 'prints the JSON report and nothing else')
    .option('--config <file>', 'several targets: { "targets": [ { "tool": … } ] }');

/** The options of the command line, with the address and the command of the server. */
export type CommandLine = Readonly<ReturnType<typeof parseCommandLine>>;
