/** The lab ends with the npm that started it. */
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';
import { expect, test } from 'vitest';

const cwd = fileURLToPath(new URL('../../..', import.meta.url));

test('a SIGTERM to npm ends the lab, although the shell between them does not pass it on', async () => {
  const args = ['run', 'lab', '--', '--server', 'http://127.0.0.1:9/mcp'];
  const npm = new RunningProcess({ command: 'npm', args }, { cwd, patienceMs: 120_000 });
  const address = await npm.until(({ out }) => /open at (http:[^#]+)/.exec(out)?.[1]);
  expect((await fetch(address)).status).toBe(200);
  npm.child.kill('SIGTERM');
  // Resolves when no process has its output any more.
  await npm.ended;
  await expect(fetch(address)).rejects.toThrow('fetch failed');
});
