/** `pnpm demo`, started as a user starts it. */
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';
import { describe, expect, test } from 'vitest';

const RUN = fileURLToPath(new URL('../run.mjs', import.meta.url));

/** Runs the program. `hangUp`: stop reading after the first output. */
async function program(args: string, { hangUp = false } = {}) {
  const env = { NO_COLOR: '1' };
  const running = new RunningProcess({ command: process.execPath, args: [RUN, ...args.split(' ')], env });
  if (hangUp) running.child.stdout?.once('data', () => running.child.stdout?.destroy());
  running.child.stdin?.end();
  return { code: await running.ended, ...running.output };
}

describe.concurrent('pnpm demo, in its own process', () => {
  test('a wrong command line prints what exists on stderr, with exit code 2', async () => {
    const { code, out, err } = await program('basic --frobnicate');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain("Unknown option '--frobnicate'.");
    expect(err).not.toContain('    at ');
  });

  test('a reader that hangs up does not make the command fail', async () => {
    const { code, err } = await program('basic', { hangUp: true });
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});
