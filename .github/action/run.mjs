// What action.yml runs: its inputs are the program's options. The report becomes the job's summary, and SARIF an output.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { MRTR_INPUTS = '{}', RUNNER_TEMP = '.', GITHUB_STEP_SUMMARY, GITHUB_OUTPUT } = process.env;
const { sarif = 'mrtr-check.sarif', ...options } = JSON.parse(MRTR_INPUTS);
const words = Object.entries(options).flatMap(([name, value]) => {
  if (value === '' || value === 'false') return [];
  return [value === 'true' ? `--${name}` : `--${name}=${value}`];
});
const markdown = join(RUNNER_TEMP, 'mrtr-check.md');
const [tsx, program] = ['node_modules/tsx/dist/loader.mjs', 'packages/check/src/main.ts'].map((path) =>
  fileURLToPath(new URL(`../../${path}`, import.meta.url)),
);
const reports = [`--report=markdown=${markdown}`, `--report=sarif=${sarif}`];
const { status } = spawnSync(process.execPath, ['--import', tsx, program, ...words, ...reports], {
  stdio: 'inherit',
});
const code = status ?? 70;
if (GITHUB_STEP_SUMMARY && existsSync(markdown)) appendFileSync(GITHUB_STEP_SUMMARY, readFileSync(markdown));
if (GITHUB_OUTPUT) appendFileSync(GITHUB_OUTPUT, `sarif=${sarif}\nexit-code=${code}\n`);
process.exitCode = code;
