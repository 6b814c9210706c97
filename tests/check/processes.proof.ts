/** Servers that are started here in a roundabout way, and servers that are not started here. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { run } from '@mrtr/check';
import { freePort } from '@mrtr/harness/process';
import { expect, it, vi } from 'vitest';
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

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function allListen(ports: readonly number[]): Promise<void> {
  const look = async () => expect(await Promise.all(ports.map(listens))).not.toContain(false);
  await vi.waitFor(look, { timeout: 10_000, interval: 20 });
}

it('what a wrapper started is killed and restarted with it, and is gone afterwards', async () => {
  const one = await inWorld((world) => {
    const script = `"${process.execPath}" "${BARE}" --world "${world}" --http "$0"; true`;
    const address = { command: ['sh', '-c', script, '{port}'], headers: {} };
    return run({ ...EVERYTHING, only: ['instance'], address });
  });
  expect(findings(one)).toEqual({});
  expect(Object.keys(verdicts(one, 'pass'))).toHaveLength(3);
  const ports = one.checked.flatMap(({ finding }) =>
    'session' in finding ? (finding.session?.turns ?? []) : [],
  );
  const port = Number(ports[0]?.url?.port);
  expect(port).toBeGreaterThan(0);
  // It was killed. A busy machine may take a moment to end it.
  await vi.waitFor(async () => expect(await listens(port)).toBe(false), { timeout: 10_000, interval: 20 });
});

it('a server that is not started here is checked at two addresses, and restarted by a command', async () => {
  await inWorld(async (world) => {
    const ports = [await freePort(), await freePort()];
    const start = (port: number | undefined) => {
      const [program = '', ...args] = bareCommand(world).map((word) => word.replace('{port}', String(port)));
      return spawn(program, args, { stdio: 'ignore' });
    };
    const [first, second] = ports.map(start);
    await allListen(ports);
    const again = bareCommand(world)
      .map((word) => `'${word.replace('{port}', String(ports[0]))}'`)
      .join(' ');
    const restart = `kill -9 ${first?.pid}; while kill -0 ${first?.pid} 2>/dev/null; do :; done; ${again} >/dev/null 2>&1 & echo $! > '${world}/pid'`;
    const at = (port: number | undefined) => `http://127.0.0.1:${port}/mcp`;
    try {
      const address = { url: at(ports[0]), also: at(ports[1]), restart, headers: {} };
      const one = await run({ ...EVERYTHING, only: ['instance'], address });
      expect(findings(one)).toEqual({});
      expect(Object.keys(verdicts(one, 'pass'))).toHaveLength(3);
    } finally {
      second?.kill('SIGKILL');
      // In step: the folder with the number is gone a moment later.
      spawnSync('sh', ['-c', `kill -9 $(cat '${world}/pid')`]);
      first?.kill('SIGKILL');
    }
  });
});

it('a server that ends at once is a mistake that shows what it wrote', async () => {
  const command = [process.execPath, '-e', 'console.error("no such database"); process.exit(1)'];
  const inputs = { ...EVERYTHING, address: { command, headers: {} } };
  await expect(run(inputs)).rejects.toThrow(/The server ended .*no such database/s);
  const overHttp = { ...inputs, address: { command: [...command, '{port}'], headers: {} } };
  await expect(run(overHttp)).rejects.toThrow(/before it listened at port \d+\. It wrote:\nno such database/);
});

it('a server that cannot be started a second time is no defect of the checker', async () => {
  const one = await inWorld((world) => {
    const script = `mkdir "${world}/taken" || exit 4; exec "${process.execPath}" "${BARE}" --world "${world}" --http "$0"`;
    const address = { command: ['sh', '-c', script, '{port}'], headers: {} };
    return run({ ...EVERYTHING, only: ['instance.second'], address });
  });
  expect(findings(one)).toEqual({ 'instance.second': 'could-not-run' });
  expect(one.checked[0]?.finding.actual).toMatch(/^The server ended \(exit code 4\) before it listened/);
});

it('a stdio server that logs to standard output breaks the wire', async () => {
  const one = await checkBare({ transport: 'stdio', only: ['wire'], args: ['--chatty'] });
  expect(findings(one)).toEqual({ 'wire.shape': 'fail' });
});

it('a header that the server logs stands in no message', async () => {
  const script =
    'require("http").createServer((req) => { console.error(req.headers["x-key"]); process.exit(1); }).listen(process.argv[1])';
  const command = [process.execPath, '-e', script, '{port}'];
  const words = ['--tool', 'a', '--allow-effects', '--header', 'x-key: s3cr3t-of-alice', '--', ...command];
  const { code, out, err } = await mrtrCheck(...words);
  expect(err).toMatch(/It wrote:\n.*<redacted>/s);
  expect(`${out}${err}`).not.toContain('s3cr3t');
  expect(code).toBe(2);
});
