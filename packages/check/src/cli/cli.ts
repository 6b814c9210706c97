/** The program. */
import { writeFileSync } from 'node:fs';
import { CHECKS } from '../checks/all.ts';
import { type Baseline, readBaseline } from '../report/baseline.ts';
import { htmlReport, readViewer } from '../report/html.ts';
import { junitReport } from '../report/junit.ts';
import { markdownReport } from '../report/markdown.ts';
import { redactor } from '../report/redact.ts';
import { PROFILE, type Report, reportOf } from '../report/report.ts';
import { type Sources, sarifReport } from '../report/sarif.ts';
import { terminalCard, terminalReport } from '../report/terminal.ts';
import { forLog, jsonText } from '../report/text.ts';
import { findAsking, foundText } from '../run/find.ts';
import { run, selectChecks } from '../run/run.ts';
import type { Progress } from '../run/schedule.ts';
import { type Inputs, UsageError } from '../target/target.ts';
import { shorten } from '../wire/text.ts';
import { readConfig } from './config.ts';
import { type Console, type Output, outputOn } from './console.ts';
import { initialise } from './init.ts';
import { inputsFrom, serverFrom } from './inputs.ts';
import {
  type CommandLine,
  type Format,
  Help,
  parseCommandLine,
  type TargetOptions,
  type Wanted,
} from './options.ts';
import { planText } from './plan.ts';

/** The limit of an error message: a server may have a hundred thousand tools. */
const MAX_SAID = 8000;

interface Target {
  readonly name?: string;
  readonly inputs: Inputs;
  readonly options: TargetOptions;
  readonly baseline?: Baseline;
}

/**
 * Runs the program.
 *
 * @returns the exit code: 0 nothing failed, 1 a check failed, 2 usage, 3 a check could not decide
 */
export async function main(argv: readonly string[], console: Console): Promise<number> {
  const output = outputOn(console);
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
      const { line: complete, writeFiles } = await initialise(line, output);
      const code = await checkAll(complete, targetsOf(complete), output);
      writeFiles();
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

async function findAll(line: CommandLine, { out, err }: Output): Promise<number> {
  const server = serverFrom(line);
  const found = await findAsking(server);
  const isFound = typeof found !== 'string';
  const text = isFound ? foundText(found) : forLog(`mrtr-check: ${found}\n`);
  (isFound ? out : err).write(redactor(server.address)(text));
  return isFound ? 0 : 3;
}

async function checkAll(line: CommandLine, targets: readonly Target[], output: Output): Promise<number> {
  const reports: Report[] = [];
  for (const { name, inputs, options, baseline } of targets) {
    const progress = progressOn(output.err, line.json ?? false, inputs);
    const judging = { name, strict: options.strict, complete: options.complete, baseline };
    const ran = await run(inputs, progress.tell)
      .catch((error: unknown) => Promise.reject(nameTarget(error, name, inputs)))
      .finally(progress.done);
    reports.push(reportOf(ran, judging));
  }
  write(
    line,
    reports,
    targets.some(({ options }) => options.strict),
    output,
  );
  return worst(reports);
}

/** Adds the name of the target to a usage error, and redacts headers that the server may have logged. */
function nameTarget(error: unknown, name: string | undefined, { address }: Inputs) {
  if (!(error instanceof UsageError)) return error;
  const message = redactor(address)(error.message);
  return new UsageError(name === undefined ? message : `${name}: ${message}`);
}

const worst = (reports: readonly Report[]): number => {
  const codes = reports.map(({ exitCode }) => exitCode);
  return codes.includes(1) ? 1 : codes.includes(3) ? 3 : 0;
};

function targetsOf({ config, ...line }: CommandLine): readonly Target[] {
  if (config === undefined) return [targetOf(line)];
  if (line.url !== undefined || line.command !== undefined)
    throw new UsageError('--config has its own addresses: remove the address and the command.');
  return readConfig(config).map(({ name, ...own }) => ({ ...targetOf({ ...own, ...line }), name }));
}

function targetOf(options: CommandLine): Target {
  const inputs = inputsFrom(options);
  const { baseline } = options;
  return { inputs, options, baseline: baseline === undefined ? {} : readBaseline(baseline) };
}

function write(line: CommandLine, reports: readonly Report[], strict: boolean, { out, viewer }: Output) {
  const wanted: readonly Wanted[] = line.report ?? (line.json ? [] : [{ format: 'terminal' }]);
  const colours = out.hasColors();
  for (const { format, file } of wanted) {
    if (line.json && file === undefined) continue;
    const text = WRITERS[format](reports, {
      ...{ strict, colours: colours && file === undefined, viewer },
      sources: { source: line.source, config: line.config },
    });
    if (file === undefined) out.writePainted(text);
    else writeFile(file, text);
  }
  if (line.json) out.write(jsonReport(reports));
  // If every report goes to a file, still print the result.
  else if (wanted.every(({ file }) => file !== undefined))
    out.writePainted(reports.map((report) => terminalCard(report, { colours })).join('\n'));
}

function writeFile(file: string, text: string) {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`The report cannot be written to ${file}: ${(error as Error).message}`);
  }
}

type Writer = (
  reports: readonly Report[],
  how: {
    readonly strict: boolean;
    readonly colours: boolean;
    readonly viewer: URL | undefined;
    readonly sources: Sources;
  },
) => string;

const WRITERS: Readonly<Record<Format, Writer>> = {
  terminal: (reports, { colours }) => reports.map((report) => terminalReport(report, { colours })).join('\n'),
  json: (reports) => jsonReport(reports),
  junit: (reports, { strict }) => junitReport(reports, { strict }),
  markdown: (reports) => reports.map(markdownReport).join('\n'),
  sarif: (reports, { sources }) => sarifReport(reports, sources),
  html: (reports, { viewer }) => htmlReport(reports, viewer && readViewer(viewer)),
};

const jsonReport = (reports: readonly Report[]) => {
  const [only] = reports;
  const value = reports.length === 1 ? only : { profile: PROFILE, exitCode: worst(reports), reports };
  return `${jsonText(value)}\n`;
};

const listText = () =>
  CHECKS.map(({ id, level, expected }) => `${level.padEnd(3)} ${id.padEnd(28)} ${expected}\n`).join('');

function progressOn(
  err: Output['err'],
  quiet: boolean,
  { only, ttlSeconds }: Inputs,
): { tell: Progress; done: () => void } {
  if (quiet || !err.isTTY) return { tell: () => {}, done: () => {} };
  const all = selectChecks(only).length;
  let ran = 0;
  return {
    tell: ({ check, done }) => {
      const waits = check.needs.includes('ttl') && ttlSeconds ? `, which waits ${ttlSeconds} s` : '';
      if (done) ran++;
      else err.writePainted(`\r\u001b[2K${String(ran + 1).padStart(3)} of ${all}  ${check.id}${waits}`);
    },
    done: () => err.writePainted('\r\u001b[2K'),
  };
}
