/** `--init`: writes a configuration file and a workflow from the options and the user's answers. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { escapeHidden, type Writer } from '@mrtr/harness/internal';
import { redactor } from '../report/redact.ts';
import { jsonText } from '../report/text.ts';
import { type FoundAll, findAsking, foundText } from '../run/find.ts';
import { UsageError } from '../target/target.ts';
import { serverFrom } from './inputs.ts';
import type { CommandLine } from './options.ts';

const CONFIG = 'mrtr-check.json';

/** The source of answers. The program asks only on a terminal. */
export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

type Ask = (question: string, missing: string, fallback?: string) => Promise<string>;

/**
 * Asks for missing options. Returns the command line of the run that follows, and a function that writes the files. It is
 * called after the run, with its exit code, so that a wrong try leaves none behind.
 *
 * @internal
 * @throws UsageError if an option is still missing
 */
export async function initialise(line: CommandLine, out: Writer, input: Input | undefined) {
  const { config = CONFIG, ...rest } = line;
  const files = line.github ? [config, WORKFLOW] : [config];
  const standing = files.filter((file) => existsSync(file)).join(' and ');
  if (standing) throw new UsageError(`--init overwrites no file. Change ${standing}, or move it away.`);
  const reader = input?.isTTY ? createInterface({ input }) : undefined;
  const lines = reader?.[Symbol.asyncIterator]();
  const ask: Ask = async (question, missing, fallback) => {
    if (lines === undefined && fallback !== undefined) return fallback;
    if (lines === undefined) throw new UsageError(missing);
    out.write(escapeHidden(`${question}${fallback ? ` [${fallback}]` : ''} `));
    const { value, done } = await lines.next();
    if (done) throw new UsageError(missing);
    return value.trim() || (fallback ?? '');
  };
  try {
    const complete = await complement(rest, ask, out);
    return { line: complete, writeFiles: (code: number) => writeFiles(complete, config, code, out) };
  } finally {
    reader?.close();
  }
}

async function complement(line: CommandLine, ask: Ask, out: Writer): Promise<CommandLine> {
  const placed =
    line.url === undefined && line.command === undefined ? { ...line, ...(await askPlace(ask)) } : line;
  const found = await findAsking(serverFrom(placed));
  if (typeof found === 'string') throw new UsageError(`Nothing was written: ${found}.`);
  const isNamed = placed.tool ?? placed.prompt ?? placed.resource;
  if (isNamed === undefined) out.write(redactor(serverFrom(placed).address)(foundText(found)));
  const one = await choose(found, isNamed, ask);
  const { kind, name, arguments: generated } = one.operation;
  const allowEffects = placed.allowEffects || (!one.readOnly && (await allow(escapeHidden(name), ask)));
  const args = placed.arguments ?? (await askArguments(generated, ask));
  const probe = placed.probe ?? (one.readOnly ? '' : await ask(PROBE, '', ''));
  const hasAnswers = placed.answer !== undefined || placed.answers !== undefined;
  return {
    ...placed,
    [kind]: name,
    arguments: args,
    ...(!hasAnswers && { generateAnswers: true }),
    ...(allowEffects && { allowEffects }),
    ...(probe !== '' && { probe }),
    quick: true,
  };
}

async function askPlace(ask: Ask): Promise<Pick<CommandLine, 'url' | 'command'>> {
  const missing = 'Say where the server is: an address, or -- and the command that starts it.';
  const place = await ask('The address of the server, or the command that starts it:', missing);
  return /^https?:/.test(place) ? { url: place } : { command: place.split(/\s+/) };
}

async function choose(all: FoundAll, named: string | undefined, ask: Ask) {
  const { found } = all;
  const [asking, ...others] = found.filter(({ asks }) => asks === 'asks');
  const fallback = others.length === 0 ? asking?.operation.name : undefined;
  const missing = 'Name the operation: --tool NAME, --prompt NAME or --resource URI.';
  const name = named ?? (await ask('Which one to check?', missing, fallback));
  const one = found.find(({ operation }) => operation.name === name);
  if (one === undefined)
    throw new UsageError(`The server has no '${escapeHidden(name)}'.\n${foundText(all)}`);
  return one;
}

async function allow(name: string, ask: Ask) {
  const missing = `The tool ${name} is not declared read-only. A run calls it several hundred times: add --allow-effects if its effects do not matter.`;
  const answer = await ask(
    `${name} may write, and is called several hundred times. Type yes if its effects do not matter here:`,
    missing,
  );
  if (!/^y/i.test(answer)) throw new UsageError(missing);
  return true;
}

async function askArguments(generated: unknown, ask: Ask): Promise<unknown> {
  const text = await ask('Its arguments, as JSON:', '', JSON.stringify(generated));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`The arguments are not JSON: ${(error as Error).message}.`);
  }
}

const PROBE =
  'A probe, which reads a value that only the effect changes: tool:NAME, url:URL or cmd:COMMAND. Empty for none:';

const RUN_ONLY = ['init', 'github', 'report', 'json', 'source', 'find', 'list', 'dryRun', 'config', 'quick'];

function writeFiles(line: CommandLine, config: string, code: number, out: Writer) {
  const secrets: string[] = [];
  const hide = (prefix: string) => (header: string) => {
    const [key = ''] = header.split(':');
    secrets.push(`${prefix}${key.toUpperCase().replace(/\W/g, '_')}`);
    return `${key}: \${${secrets.at(-1)}}`;
  };
  const named = Object.entries(line).filter(([key]) => !RUN_ONLY.includes(key));
  const target = Object.fromEntries(
    named.map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value]),
  );
  if (line.header) target.header = line.header.map(hide('MRTR_'));
  if (line.otherHeader) target['other-header'] = line.otherHeader.map(hide('MRTR_OTHER_'));
  const name = line.tool ?? line.prompt ?? line.resource;
  write(config, `${jsonText({ targets: [{ name, ...target }] })}\n`, out);
  if (line.github) write(WORKFLOW, workflowText(config, secrets, line), out);
  const notes = [
    ...(line.generateAnswers ? [GENERATED] : []),
    ...(code === 1 ? [acceptText(config)] : []),
    ...(line.github ? missingSteps(line) : []),
    ...secrets.map((secret) => `Set ${secret} in the environment, and as a secret of the repository.`),
  ];
  for (const note of notes) out.write(`${escapeHidden(note)}\n`);
}

const GENERATED =
  'With generate-answers in it, the checker makes up the answers. For answers of your own, write "answer": ["KEY=JSON"].';

const acceptText = (config: string) =>
  `The first run failed. To accept a finding for now, write { "accepted": { "its id": "the reason" } } into a file, and "baseline": "that file" into ${config}.`;

function write(file: string, text: string, out: Writer) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { flag: 'wx' });
  out.write(`Wrote ${file}.\n`);
}

const WORKFLOW = '.github/workflows/mrtr-check.yml';

const UPLOAD = `
      - if: always()
        # A private repository without code scanning takes no upload, and none comes from a fork.
        continue-on-error: true
        uses: github/codeql-action/upload-sarif@5d4e8d1aca955e8d8589aabd499c5cae939e33c7 # v4.31.9
        with:
          sarif_file: mrtr-check.sarif
`;

/** The steps of a project with a package.json, which installs the checker from a file: while it is unpublished, anybody can take its name on npm. */
const npmSteps = (config: string, env: string, own: string) => `
      - run: ${existsSync('pnpm-lock.yaml') ? 'npx -y pnpm@12 install --frozen-lockfile' : existsSync('package-lock.json') ? 'npm ci' : 'npm install'}
${own}      # Without --quick, every check runs: do that before a release.
      - run: >-
          npx --no-install mrtr-check --config ${config} --quick --source .
          --report sarif=mrtr-check.sarif --report markdown=mrtr-check.md
${env}      - if: always()
        run: cat mrtr-check.md >> "$GITHUB_STEP_SUMMARY"`;

/** The steps of any other project. The action writes the summary itself. */
const actionSteps = (config: string, env: string, own: string) => `
      # Install here what the server needs, in its language: actions/setup-python and pip, for example.
${own}      # With \`quick: false\`, every check runs: do that before a release.
      - id: check
        uses: ${ACTION}
${env}        with:
          config: ${config}`;

const ACTION = 'mrtr-shapes/mrtr-shapes@<commit>';

function workflowText(config: string, secrets: readonly string[], { command }: CommandLine) {
  const values = secrets.map((name) => `          ${name}: \${{ secrets.${name} }}\n`).join('');
  const env = values && `        env:\n${values}`;
  const own = command ? '' : '      # Start the server here, and wait until it answers at its address.\n';
  return `# Written by mrtr-check --init --github.
name: mrtr-check
on:
  push:
  pull_request:
permissions:
  contents: read
  # Findings are shown on the code-scanning page.
  security-events: write
jobs:
  mrtr-check:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
      - uses: actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0
        with:
          node-version: 24${(hasPackage() ? npmSteps : actionSteps)(config, env, own)}${UPLOAD}`;
}

const hasPackage = () => existsSync('package.json');

/** What the user still has to write into the workflow. */
function missingSteps({ command }: CommandLine) {
  const program = command?.[0] ?? '';
  return [
    ...(hasPackage()
      ? []
      : [
          'There is no package.json here, so the workflow runs the checker as an action. Put a commit of it that you have read in place of <commit>, and add the steps that install what your server needs.',
        ]),
    ...(/[\\/]/.test(program) ? [`In CI, a step has to make ${program}, which starts the server.`] : []),
    ...(command ? [] : ['The workflow does not start the server: add a step that does.']),
  ];
}
