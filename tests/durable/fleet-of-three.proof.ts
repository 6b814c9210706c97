/** Runs the command line with real processes and a real PostgreSQL. */
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect } from 'vitest';

const RUN = fileURLToPath(new URL('../../demos/cli/run.mjs', import.meta.url));

const { database, test } = await postgresOfTheRun();

test('`pnpm demo fleet-of-three` shows one call that is refused, and two that finish', async () => {
  const env = { MRTR_POSTGRES: await database() };
  const running = new RunningProcess({ command: process.execPath, args: [RUN, 'fleet-of-three'], env });
  const code = await running.ended;
  const { out, err } = running.said;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const [introduction, ...shapes] = out.split(/^(?= (?:H|J) )/m);
  expect(introduction).toMatch(/^ fleet-of-three · .+\n\n PostgreSQL .+\.\n\n\n Three server processes /);
  const asked = (heading: string) =>
    ` ${heading}\n   server 1  How was #4522 resolved?\n   server 1  ☠ killed\n   user      ☺ Duplicate\n`;
  const finished =
    '   server 2  Which item is #4522 a duplicate of?\n   user      ☺ 4301\n' +
    '   server 3  ✓ #4522 resolved as Duplicate of #4301.\n';
  expect(shapes).toEqual([
    expect.stringContaining(
      `${asked('H in memory · the handler waits in the process that asked')}   server 2  ✗ This call cannot be resumed here:`,
    ),
    `${asked('H on PostgreSQL · the same handler, recorded in a database')}${finished}\n`,
    `${asked('J · the handler runs again, from what the token carries')}${finished}`,
  ]);
  for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
});
