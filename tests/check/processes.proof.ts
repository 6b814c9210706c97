/** Servers that a wrapper starts, and servers that the checker does not start. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { run } from '@mrtr/check';
import { freePort, RunningProcess } from '@mrtr/harness/process';
import { expect, test, vi } from 'vitest';
import { runChecks } from '../../packages/check/src/run/run.ts';
import {
  BARE,
  bareCommand,
  checkBare,
  EVERYTHING,
  findings,
  inWorld,
  verdicts,
} from './bare.test-support.ts';
import { mrtrCheck } from './cli.test-support.ts';

const LISTENS = /listening at (\S+)/;

/** Starts the bare server at a port, and waits until it listens. */
async function startBare(world: string, port: number): Promise<RunningProcess> {
  const [command = '', ...args] = bareCommand(world).map((word) => word.replace('{port}', String(port)));
  const server = new RunningProcess({ command, args });
  await server.until(({ err }) => LISTENS.exec(err)?.[1]);
  return server;
}

test('the server that a wrapper starts is killed and restarted with it, and ends with the run', async () => {
  const one = await inWorld((world) => {
    const script = `"${process.execPath}" "${BARE}" --world "${world}" --http "$0"; true`;
    const address = { command: ['sh', '-c', script, '{port}'], headers: {} };
    return runChecks({ ...EVERYTHING, only: ['instance'], address });
  });
  expect(one.checked.map(({ finding }) => finding.verdict)).toEqual(['pass', 'pass', 'pass']);
  const [url] = one.checked.flatMap(({ finding }) => finding.session?.turn?.url ?? []);
  const port = Number(url?.port);
  expect(port).toBeGreaterThan(0);
  // A busy machine may take a moment to end the killed process.
  const connects = () => once(connect(port, '127.0.0.1'), 'connect');
  const isGone = () => expect(connects()).rejects.toThrow('ECONNREFUSED');
  await vi.waitFor(isGone, { timeout: 60_000, interval: 20 });
});

test('a server that is not started here is checked at two addresses, and restarted by a command', async () => {
  await inWorld(async (world) => {
    const port = await freePort();
    const [first, second] = [await startBare(world, port), await startBare(world, 0)];
    const { pid } = first.child;
    const again = bareCommand(world)
      .map((word) => `'${word.replace('{port}', String(port))}'`)
      .join(' ');
    const restart = `kill -9 ${pid}; while kill -0 ${pid} 2>/dev/null; do :; done; ${again} >/dev/null 2>&1 & echo $! > '${world}/pid'`;
    const at = ({ output }: RunningProcess) => LISTENS.exec(output.err)?.[1] as string;
    try {
      const address = { url: at(first), also: at(second), restart, headers: {} };
      const one = await run({ ...EVERYTHING, only: ['instance'], address });
      expect(findings(one)).toEqual({});
      expect(Object.keys(verdicts(one, 'pass'))).toHaveLength(3);
    } finally {
      // Synchronous, because the folder with the pid is removed right after.
      spawnSync('sh', ['-c', `kill -9 $(cat '${world}/pid')`]);
      await Promise.all([first.kill(), second.kill()]);
    }
  });
});

test('a server that ends at once is a usage error that shows its output', async () => {
  const command = [process.execPath, '-e', 'console.error("no such database"); process.exit(1)'];
  const inputs = { ...EVERYTHING, address: { command, headers: {} } };
  await expect(run(inputs)).rejects.toThrow(/The server ended .*no such database/s);
  const overHttp = { ...inputs, address: { command: [...command, '{port}'], headers: {} } };
  await expect(run(overHttp)).rejects.toThrow(/before it listened at port \d+\. It wrote:\nno such database/);
});

test('a server that cannot be started a second time is no defect of the checker', async () => {
  const one = await inWorld((world) => {
    const script = `mkdir "${world}/taken" || exit 4; exec "${process.execPath}" "${BARE}" --world "${world}" --http "$0"`;
    const address = { command: ['sh', '-c', script, '{port}'], headers: {} };
    return run({ ...EVERYTHING, only: ['instance.second'], address });
  });
  expect(findings(one)).toEqual({ 'instance.second': 'could-not-run' });
  expect(one.checks[0]?.actual).toMatch(/^The server ended \(exit code 4\) before it listened/);
});

test('a stdio server that logs to standard output breaks the wire', async () => {
  const one = await checkBare({ transport: 'stdio', only: ['wire'], args: ['--chatty'] });
  expect(findings(one)).toEqual({ 'wire.shape': 'fail' });
});

test('no message contains a header that the server logs', async () => {
  const script =
    'require("http").createServer((req) => { console.error(req.headers["x-key"]); process.exit(1); }).listen(process.argv[1])';
  const command = [process.execPath, '-e', script, '{port}'];
  const words = ['--tool', 'a', '--allow-effects', '--header', 'x-key: s3cr3t-of-alice', '--', ...command];
  const { code, out, err } = await mrtrCheck(...words);
  expect(err).toMatch(/It wrote:\n.*<redacted>/s);
  expect(`${out}${err}`).not.toContain('s3cr3t');
  expect(code).toBe(2);
});
