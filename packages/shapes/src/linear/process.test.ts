import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('./parked-process.test-support.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

test('parked handlers neither keep their process alive nor the SDK contexts of their requests', async () => {
  const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', SCRIPT], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 100_000,
  });
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  // `careless` is the control: its author keeps the context, so the test can see a context that is held.
  expect({ code, signal, ...JSON.parse(output) }).toEqual({
    code: 0,
    signal: null,
    parked: 2,
    held: ['careless'],
  });
});
