/** `pnpm matrix`, started as a user starts it. */
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';
import { expect, test } from 'vitest';
import { typescriptProgram } from './processes/program.ts';

async function run(...args: string[]) {
  const program = typescriptProgram(fileURLToPath(new URL('./main.ts', import.meta.url)), ...args);
  const running = new RunningProcess({ ...program, env: { NO_COLOR: '1' } });
  return { code: await running.ended, ...running.output };
}

test.concurrent.each([
  [
    'a database that cannot be used gives an error without the password, and the exit code 1',
    ['--postgres', 'postgres://ada:secret@127.0.0.1:1/calls'],
    { code: 1, err: 'PostgreSQL at 127.0.0.1:1/calls cannot be used: connect ECONNREFUSED 127.0.0.1:1\n' },
  ],
  [
    'a wrong command line gives an error, and the exit code 2',
    ['--json', '--write'],
    { code: 2, err: expect.stringMatching(/'--json' cannot be used with.+\nMore: pnpm matrix --help\n$/) },
  ],
])('%s', async (_, args, ends) => {
  expect(await run(...args)).toMatchObject({ ...ends, out: '' });
});
