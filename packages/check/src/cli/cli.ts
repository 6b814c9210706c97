/** The program. */
import { writeFileSync } from 'node:fs';
import type { Writer } from '@mrtr/harness/internal';
import { CHECKS } from '../checks/all.ts';
import { readBaseline } from '../report/baseline.ts';
import { FORMATS, type ReportFormat, worstCode } from '../report/formats.ts';
import { redactor } from '../report/redact.ts';
import { type Report, reportOf } from '../report/report.ts';
import { terminalCard } from '../report/terminal.ts';
import { forLog } from '../report/text.ts';
import { findAsking, foundText } from '../run/find.ts';
import { runChecks, selectChecks } from '../run/run.ts';
import type { Progress } from '../run/schedule.ts';
import { type CompleteInputs, UsageError } from '../target/target.ts';
import { shorten } from '../wire/json.ts';
import { type Input, initialise } from './init.ts';
import { inputsFrom, readConfig, serverFrom } from './inputs.ts';
import { type CommandLine, Help, parseCommandLine } from './options.ts';
import { planText } from './plan.ts';

/** The limit of an error message: a server may have a hundred thousand tools. */
const MAX_SAID = 8000;

/** The streams and files of the program. @internal */
export interface Output {
  readonly out: Writer;
  readonly err: Writer;
  readonly in?: Input;
  /** The folder of the built viewer that draws the conversations in HTML reports. */
  readonly viewer?: URL;
}

type Target = ReturnType<typeof targetOf>;

/**
 * Runs the program.
 *
 * @internal
 * @returns the exit code: 0 nothing failed, 1 a check failed, 2 usage, 3 a check could not decide
 */
export async function main(argv: readonly string[], output: Output) {
  const { out, err } = output;
  try {
    const line = parseCommandLine(argv);
    if (line.list) {
      out.write(listText());
      return 0;
    }
    if (line.github && !line.init) throw new UsageError('--github needs --init: add it.');
    if (line.find) return await findAll(line, output);
    if (line.init) {
      const { line: complete, writeFiles } = await initialise(line, out, output.in);
      const code = await checkAll(complete, targetsOf(complete), output);
      writeFiles(code);
      return code;
    }
    const targets = targetsOf(line);
    if (line.dryRun) {
      for (const { inputs } of targets) out.write(planText(inputs));
      return 0;
    }
    return await checkAll(line, targets, output);
  } catch (error) {
    if (error instanceof Help) {
      out.write(error.message);
      return 0;
    }
    if (!(error instanceof UsageError)) throw error;
    err.write(`mrtr-check: ${forLog(shorten(error.message, MAX_SAID))}\n`);
    return 2;
  }
}

async function findAll(line: CommandLine, { out, err }: Output) {
  const server = serverFrom(line);
  const found = await findAsking(server, line.allowEffects);
  const isFound = typeof found !== 'string';
  const text = isFound ? foundText(found) : forLog(`mrtr-check: ${found}\n`);
  (isFound ? out : err).write(redactor(server.address)(text));
  return isFound ? 0 : 3;
}

async function checkAll(line: CommandLine, targets: readonly Target[], output: Output) {
  const reports: Report[] = [];
  for (const { inputs, judging } of targets) {
    const ran = await runShown(inputs, line.json ? undefined : output.err).catch((error: unknown) => {
      throw nameTarget(error, judging.name, inputs);
    });
    reports.push(reportOf(ran, judging));
  }
  const strict = targets.some(({ judging }) => judging.strict);
  write(line, reports, strict, output);
  return worstCode(reports);
}

/** Runs the checks, and shows on a terminal which of them runs. */
async function runShown(inputs: CompleteInputs, err: Writer | undefined) {
  if (!err?.isTTY) return runChecks(inputs);
  const { only, ttlSeconds } = inputs;
  const all = selectChecks(only).length;
  const show: Progress = ({ id, needs }, at) => {
    const waits = needs.includes('ttl') && ttlSeconds ? `, which waits ${ttlSeconds} s` : '';
    err.writePainted(`${CLEAR}${String(at + 1).padStart(3)} of ${all}  ${id}${waits}`);
  };
  return runChecks(inputs, show).finally(() => err.writePainted(CLEAR));
}

const CLEAR = '\r\u001b[2K';

/** Adds the name of the target to a usage error, and redacts headers that the server may have logged. */
function nameTarget(error: unknown, name: string | undefined, { address }: CompleteInputs) {
  if (!(error instanceof UsageError)) return error;
  const message = redactor(address)(error.message);
  return new UsageError(name === undefined ? message : `${name}: ${message}`);
}

function targetsOf({ config, ...line }: CommandLine) {
  if (config === undefined) return [targetOf(line)];
  if (line.url !== undefined || line.command !== undefined)
    throw new UsageError('--config has its own addresses: remove the address and the command.');
  return readConfig(config).map(({ name, ...own }) => targetOf({ ...own, ...line }, name));
}

function targetOf(options: CommandLine, name?: string) {
  const { strict, complete, baseline } = options;
  const accepted = baseline === undefined ? baseline : readBaseline(baseline);
  return { inputs: inputsFrom(options), judging: { name, strict, complete, baseline: accepted } };
}

function write(line: CommandLine, reports: readonly Report[], strict: boolean, { out, viewer }: Output) {
  const { json, source, config, report = json ? [] : [{ format: 'terminal' }] } = line;
  const colours = out.hasColors();
  const format = (name: ReportFormat, file?: string) =>
    FORMATS[name](reports, {
      ...{ strict, source, config, viewer },
      colours: colours && file === undefined,
    });
  for (const { format: name, file } of report) {
    if (file !== undefined) writeFile(file, format(name, file));
    else if (!json) out.writePainted(format(name));
  }
  if (json) out.write(format('json'));
  // If every report goes to a file, still print the result.
  else if (report.every(({ file }) => file !== undefined))
    out.writePainted(reports.map((one) => terminalCard(one, colours)).join('\n'));
}

function writeFile(file: string, text: string) {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`The report cannot be written to ${file}: ${(error as Error).message}`);
  }
}

const listText = () =>
  CHECKS.map(({ id, level, expected }) => `${level.padEnd(3)} ${id.padEnd(28)} ${expected}\n`).join('');
