/**
 * Runs the steps of CI: a project installs the packed packages, `--init --github` writes a workflow, and each step of it
 * and of action.yml runs here. The actions in `uses:` are skipped.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPERATION } from './cli.test-support.ts';

const MINUTES = 60_000;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'mrtr-ci-'));
const [clone, project] = ['src', 'project'].map((one) => join(scratch, one)) as [string, string];
const summary = join(scratch, 'summary.md');
const outputs = join(scratch, 'outputs');

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function sh(script: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
    ...{ cwd, encoding: 'utf8', env: { ...process.env, GITHUB_STEP_SUMMARY: summary, ...env } },
  });
  return { status, said: `${stdout}${stderr}` };
}

beforeAll(() => {
  execFileSync('git', ['clone', '-q', ROOT, clone]);
  // The lab's page, if it is built: the clone builds it again only if its sources differ.
  const built = 'node_modules/.cache/mrtr-lab';
  if (existsSync(join(ROOT, built))) cpSync(join(ROOT, built), join(clone, built), { recursive: true });
  const vendor = join(project, 'vendor');
  mkdirSync(vendor, { recursive: true });
  const pack = `npx -y pnpm@12 -r --filter-prod @mrtr/check... pack --pack-destination ${vendor}`;
  for (const step of ['npx -y pnpm@12 install --frozen-lockfile', pack]) {
    const { status, said } = sh(step, clone);
    expect(status, said).toBe(0);
  }
  // Another server has the tool too, so only this one and what it imports.
  mkdirSync(join(project, 'servers'));
  for (const file of ['bare.mjs', 'state.mjs', 'world.mjs'])
    cpSync(join(ROOT, 'tests/check/servers', file), join(project, 'servers', file));
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const { status, said } = sh('npm install --no-audit --save-dev ./vendor/*.tgz', project);
  expect(status, said).toBe(0);
}, 10 * MINUTES);

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'working-directory'?: string;
}

/** Fills in expressions as a runner does. Fails at one without a value. */
const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\$\{\{ (.+?) \}\}/g, (_, name: string) => values[name] ?? expect.fail(`no value of ${name}`));

/** Runs the steps as a runner does: after a failure only those with `always()`. */
function runSteps(
  steps: readonly Step[],
  values: Readonly<Record<string, string>>,
  { cwd: folder = project, ...env }: Readonly<Record<string, string>> = {},
) {
  const said: string[] = [];
  let failed = false;
  for (const step of steps) {
    // Actions are pinned by commit, because anyone who moves a tag could run code in the job.
    if (step.uses) expect(step.uses).toMatch(/^[\w/-]+@[0-9a-f]{40}$/);
    if (step.run === undefined || (failed && step.if !== 'always()')) continue;
    const own = Object.entries(step.env ?? {}).map(([name, value]) => [name, fill(value, values)]);
    const cwd = fill(step['working-directory'] ?? folder, values);
    const ran = sh(fill(step.run, values), cwd, { ...env, ...Object.fromEntries(own) });
    said.push(ran.said);
    failed ||= ran.status !== 0;
  }
  return { failed, said: said.join('\n') };
}

const runWorkflow = () => {
  rmSync(summary, { force: true });
  const { jobs } = parse(readFileSync(join(project, '.github/workflows/mrtr-check.yml'), 'utf8'));
  return runSteps(jobs['mrtr-check'].steps, { 'secrets.MRTR_X_KEY': 's3cr3t' });
};

test('the workflow is red on a server with a fault, and green without it', { timeout: 5 * MINUTES }, () => {
  const server = ['node', 'servers/bare.mjs', '--world', '.', '--http', '{port}', '--fault'];
  const given = [...OPERATION, '--one-time', '--header', 'X-Key: s3cr3t', '--only', 'retry.twice,wire.shape'];
  const words = ['--init', '--github', ...given, '--', ...server, 'retry.twice'].map((word) => `'${word}'`);
  const init = sh(`npx --no-install mrtr-check ${words.join(' ')}`, project);
  expect(init.status, init.said).toBe(1);

  const red = runWorkflow();
  expect(red.failed, red.said).toBe(true);
  expect(readFileSync(summary, 'utf8')).toMatch(/\*\*fail\*\*: `retry\.twice`/);
  const { runs } = JSON.parse(readFileSync(join(project, 'mrtr-check.sarif'), 'utf8'));
  expect(runs[0].results).toMatchObject([{ ruleId: 'retry.twice', level: 'error' }]);
  const [{ locations }] = runs[0].results;
  expect(locations[0].physicalLocation.artifactLocation.uri).toBe('servers/bare.mjs');

  const config = join(project, 'mrtr-check.json');
  writeFileSync(config, readFileSync(config, 'utf8').replace(/"retry\.twice"\s*\]\s*\}\s*\]/, '"none"]}]'));
  const green = runWorkflow();
  expect(green.failed, green.said).toBe(false);
});

/** Runs the steps of action.yml in a folder, with the inputs of a workflow. */
function runAction(cwd: string, inputs: Readonly<Record<string, string>> = {}) {
  const { inputs: known, runs, outputs: given } = parse(readFileSync(join(clone, 'action.yml'), 'utf8'));
  const defaults = Object.entries(known as Record<string, { default: string }>);
  const values = {
    'github.action_path': clone,
    'toJSON(inputs)': JSON.stringify({
      ...Object.fromEntries(defaults.map(([name, one]) => [name, one.default])),
      ...inputs,
    }),
  };
  const env = {
    cwd,
    GITHUB_ACTION_PATH: clone,
    GITHUB_OUTPUT: outputs,
    RUNNER_TEMP: scratch,
    MRTR_X_KEY: 's3cr3t',
  };
  return { ...runSteps(runs.steps, values, env), given };
}

test('the action runs with its defaults, and says where its SARIF is', { timeout: 5 * MINUTES }, () => {
  const { failed, said, given } = runAction(project);
  expect(failed, said).toBe(false);
  expect(readFileSync(outputs, 'utf8')).toBe('sarif=mrtr-check.sarif\nexit-code=0\n');
  expect(Object.keys(given)).toEqual(['sarif', 'exit-code']);
  expect(existsSync(join(project, 'mrtr-check.sarif'))).toBe(true);
  expect(readFileSync(summary, 'utf8')).toMatch(/^# mrtr-check/m);
});

test('without a package.json, the workflow runs the action', { timeout: 5 * MINUTES }, () => {
  const folder = join(scratch, 'python');
  cpSync(join(project, 'servers'), join(folder, 'servers'), { recursive: true });
  symlinkSync(process.execPath, join(folder, 'interpreter'));
  const server = ['./interpreter', 'servers/bare.mjs', '--world', '.', '--fault', 'none'];
  const given = [...OPERATION, '--header', 'X-Key: s3cr3t', '--only', 'wire.shape', '--', ...server];
  const words = ['--init', '--github', ...given].map((word) => `'${word}'`).join(' ');
  const init = () => sh(`${project}/node_modules/.bin/mrtr-check ${words}`, folder);
  const { status, said } = init();
  expect(status, said).toBe(0);
  expect(said).toMatch(
    /There is no package\.json here, .* in place of <commit>, .*\nIn CI, a step has to make \.\/interp/,
  );
  expect(init()).toMatchObject({
    status: 2,
    said: expect.stringMatching(/Change mrtr-check\.json and \.github\/workflows\/mrtr-check\.yml, or move/),
  });

  const text = readFileSync(join(folder, '.github/workflows/mrtr-check.yml'), 'utf8');
  const steps: readonly (Step & { with?: Record<string, string> })[] = parse(text).jobs['mrtr-check'].steps;
  expect(steps.filter(({ run }) => run !== undefined)).toEqual([]);
  const [check] = steps.filter(({ uses }) => uses === 'mrtr-shapes/mrtr-shapes@<commit>');
  expect(check?.env).toEqual({ MRTR_X_KEY: `$${'{{ secrets.MRTR_X_KEY }}'}` });
  const ran = runAction(folder, check?.with);
  expect(ran.failed, ran.said).toBe(false);
  expect(existsSync(join(folder, steps.at(-1)?.with?.sarif_file ?? ''))).toBe(true);
});

test('for a server at an address, the workflow has a place to start it', { timeout: MINUTES }, () => {
  const folder = join(scratch, 'remote');
  cpSync(join(project, 'servers'), join(folder, 'servers'), { recursive: true });
  const words = `--init --github --prompt balance --generate-answers --only wire.shape`;
  const script = `
    port=$(node -p 'require("net").createServer().listen(0).unref().address().port')
    node servers/bare.mjs --world . --http "$port" & trap "kill $!" EXIT
    curl -sS -o /dev/null --retry 50 --retry-connrefused --retry-delay 0 "http://localhost:$port/mcp"
    ${project}/node_modules/.bin/mrtr-check ${words} "http://localhost:$port/mcp"`;
  const { status, said } = sh(script, folder);
  expect(status, said).toBe(0);
  expect(said).toMatch(/The workflow does not start the server: add a step that does\./);
  const text = readFileSync(join(folder, '.github/workflows/mrtr-check.yml'), 'utf8');
  expect(text).toMatch(/^ {6}# Start the server here, .*\n {6}# With `quick: false`/m);
});
