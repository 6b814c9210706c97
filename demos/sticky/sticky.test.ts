/** The configuration in the repository, and a machine without HAProxy. `sticky.proof.ts` routes calls. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { NOT_INSTALLED, readConfiguration, withoutRule } from './haproxy.ts';

test('without HAProxy, `pnpm demo sticky` says what is missing and fails', () => {
  const run = fileURLToPath(new URL('../../cli/run.mjs', import.meta.url));
  const env = { ...process.env, HAPROXY: './no-such-program' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [run, 'sticky'], { env, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: NOT_INSTALLED });
});

test('the configuration has one routing rule, and withoutRule removes only that line', async () => {
  const configuration = await readConfiguration();
  const lines = configuration.split('\n');
  const left = withoutRule(configuration).split('\n');
  expect(lines.filter((line) => !left.includes(line))).toEqual([
    '    use-server %[var(txn.instance)] if { var(txn.instance) -m found }',
  ]);
  expect(() => withoutRule(left.join('\n'))).toThrow('one routing rule');
});
