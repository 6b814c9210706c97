import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, type ProcessOptions, RunningProcess } from './process.ts';

function run(program: string, options: ProcessOptions = {}) {
  const args = ['--input-type=module', '--eval', program];
  const running = new RunningProcess({ command: process.execPath, args }, options);
  onTestFinished(() => running.kill());
  return running;
}

test('its output can be waited for, and its end brings the exit code', async () => {
  const running = run("console.error('listening at 7'); process.stdin.once('data', () => process.exit(3))");
  expect(await running.until(({ err }) => /at (\d)/.exec(err)?.[1])).toBe('7');
  expect(running.alive).toBe(true);
  running.child.stdin?.end('go');
  expect(await running.ended).toBe(3);
  expect(running.alive).toBe(false);
});

test('a process that ends before it is ready rejects the wait, with its output', async () => {
  await expect(run("console.log('No.'); process.exit(1)").until(() => undefined)).rejects.toThrow(
    /ended with 1, and wrote: No\./,
  );
});

test('a process that takes too long to start rejects the wait', async () => {
  const forever = run('setInterval(() => {}, 1000)', { patienceMs: 10 });
  await expect(forever.until(() => undefined)).rejects.toThrow('was not ready in 10 ms, and wrote:');
});

test('a process that does not stop is killed', async () => {
  const stubborn = run("process.stdin.resume(); process.send('up')", { ipc: true });
  expect(await stubborn.message()).toBe('up');
  await expect(stubborn.stop(() => {}, 10)).rejects.toThrow('did not end in 10 ms, and was killed.');
  expect(await stubborn.ended).toBe('SIGKILL');
});

test('a free port can be listened on, and no connection is opened from it', async () => {
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  expect(client.localPort).toBeGreaterThanOrEqual(32_768);
  expect(port).toBeLessThan(32_768);
  client.destroy();
  server.close();
});
