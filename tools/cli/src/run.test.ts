/** The program's messages when it cannot start. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

async function runUninstalled(env: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-uninstalled-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const name of ['run.mjs', 'package.json', 'src']) {
    await cp(new URL(`../${name}`, import.meta.url), join(folder, name), { recursive: true });
  }
  // Without an error exit code the promise would resolve.
  const running = promisify(execFile)(process.execPath, [join(folder, 'run.mjs'), 'basic'], { env });
  return running.then(
    () => ({ code: 0, stderr: '' }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
}

// A Node that cannot strip types loads `tsx` first. Others load the program, which imports packages of the workspace.
const { typescript } = process.features as { readonly typescript?: unknown };
const FIRST_MISSING = typescript ? '@mrtr/[a-z-]+' : 'tsx';

test.each([
  ['says what to run, in one line', {}, ''],
  [
    'names another pnpm, whose install may have failed',
    { npm_config_user_agent: 'pnpm/9.15.0 npm/? node/v20.20.2 linux x64' },
    ' This is pnpm 9\\.15\\.0, and the workspace needs pnpm 12\\.',
  ],
])('without an install it %s', async (_what, env, why) => {
  const { code, stderr } = await runUninstalled(env);
  expect(code).toBe(1);
  const missing = `^The dependencies are not installed: '${FIRST_MISSING}' is missing\\.`;
  expect(stderr).toMatch(new RegExp(`${missing}${why} Run: npx -y pnpm@12 install\n$`));
});
