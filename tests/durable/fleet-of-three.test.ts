/** Real processes and a real PostgreSQL, from the command line on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const RUN = fileURLToPath(new URL('../../demos/cli/run.mjs', import.meta.url));

function start(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [RUN, 'fleet-of-three'], { env: { ...process.env, ...env } });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  return { child, said, ended: once(child, 'close') };
}

test('`pnpm demo fleet-of-three` shows one call that is refused, and two that finish', async () => {
  const postgres = process.env.MRTR_TEST_POSTGRES;
  const { said, ended } = start(postgres === undefined ? {} : { MRTR_POSTGRES: postgres });
  expect({ code: (await ended)[0], err: said.err }).toEqual({ code: 0, err: '' });
  const [introduction, ...shapes] = said.out.split(/^(?= (?:H|J) )/m);
  expect(introduction).toMatch(/^ fleet-of-three · .+\n PostgreSQL .+\.\n\n Three server processes /);
  const asked = (heading: string) =>
    ` ${heading}\n   server 1  How was #4522 resolved?\n   server 1  ☠ killed\n   user      ☺ Duplicate\n`;
  const finished =
    '   server 2  Which item is #4522 a duplicate of?\n   user      ☺ 4301\n' +
    '   server 3  ✓ #4522 resolved as Duplicate of #4301.\n';
  expect(shapes).toEqual([
    expect.stringContaining(
      `${asked('H in memory · the handler waits in the process that asked')}   server 2  ✗ This call cannot go on here:`,
    ),
    `${asked('H on PostgreSQL · the same handler, recorded in a database')}${finished}\n`,
    `${asked('J · the handler runs again, from what the token carries')}${finished}`,
  ]);
  for (const line of said.out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
}, 120_000);
