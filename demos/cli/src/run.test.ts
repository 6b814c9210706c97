/** What the program prints if it cannot start. */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

/** Runs `run.mjs` where nothing is installed. */
async function uninstalled(env: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-uninstalled-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await copyFile(new URL('../run.mjs', import.meta.url), join(folder, 'run.mjs'));
  // Without an error exit code the promise would resolve.
  const running = promisify(execFile)(process.execPath, [join(folder, 'run.mjs'), 'basic'], { env });
  return running.then(
    () => ({ code: 0, stderr: '' }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
}

const MISSING = "The dependencies are not installed: 'tsx' is missing.";
const INSTALL = 'Run: npx -y pnpm@12 install\n';

test('without an install it says what to run, in one line', async () => {
  expect(await uninstalled({})).toEqual({ code: 1, stderr: `${MISSING} ${INSTALL}` });
});

test('another pnpm is named, since its install may have failed', async () => {
  const { stderr } = await uninstalled({
    npm_config_user_agent: 'pnpm/9.15.0 npm/? node/v20.20.2 linux x64',
  });
  expect(stderr).toBe(`${MISSING} This is pnpm 9.15.0, and the workspace needs pnpm 12. ${INSTALL}`);
});
