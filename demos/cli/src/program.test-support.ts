/** `pnpm demo`, started as a user starts it. */
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';

const RUN = fileURLToPath(new URL('../run.mjs', import.meta.url));

export async function program(args: string, { hangUp = false } = {}) {
  const env = { NO_COLOR: '1' };
  const running = new RunningProcess({ command: process.execPath, args: [RUN, ...args.split(' ')], env });
  if (hangUp) running.child.stdout?.once('data', () => running.child.stdout?.destroy());
  running.child.stdin?.end();
  return { code: await running.ended, ...running.said };
}
