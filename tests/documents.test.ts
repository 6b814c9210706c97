/** What the documents show is what is: measured tables, printed outputs, and code that runs. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = fileURLToPath(new URL('../demos/cli/run.mjs', import.meta.url));

it('every generated block of the documents is up to date; `pnpm matrix --write` brings it up to date', async () => {
  const { MRTR_TEST_POSTGRES: postgres } = process.env;
  const env = { ...process.env, ...(postgres !== undefined && { MRTR_POSTGRES: postgres }) };
  const check = promisify(execFile)(process.execPath, [run, 'matrix', '--check'], { env });
  const { stdout } = await check.catch((failed) => failed);
  expect(stdout).toBe('');
}, 120_000);
