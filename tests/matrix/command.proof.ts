/** `pnpm matrix` as it is called. */
import { RunningProcess } from '@mrtr/harness/process';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect, onTestFinished } from 'vitest';

const { database, test } = await postgresOfTheRun();

test('pnpm matrix prints its tables, and no warning of what it measures on purpose', async () => {
  const args = ['--silent', 'matrix', '--postgres', await database()];
  const command = new RunningProcess({ command: 'pnpm', args }, { patienceMs: 200_000 });
  onTestFinished(() => command.stop());
  expect([await command.ended, command.output.err]).toEqual([0, '']);
  expect(command.output.out).toContain('| **A** shim ');
});
