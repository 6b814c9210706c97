import { expect, onTestFinished, test } from 'vitest';
import { createInstance } from './instance.ts';

// The command's server has its own process group, which SIGKILL to the command does not reach.
const IN_THE_BACKGROUND = `
  const { spawn } = require('node:child_process');
  const server = 'require("node:net").createServer().listen(process.argv[1], "localhost")';
  const { pid } = spawn(process.execPath, ['-e', server, process.argv[1]], { detached: true, stdio: 'ignore' });
  console.log('pid ' + pid);
  setInterval(() => {}, 60_000);
`;

test('does not mistake a server that outlives its command for the next instance', async () => {
  const address = { command: [process.execPath, '-e', IN_THE_BACKGROUND, '{port}'], headers: {} };
  const instance = createInstance('server', address, { timeoutMs: 1000, over: new AbortController().signal });
  await instance.start();
  onTestFinished(() => void process.kill(Number(/pid (\d+)/.exec(instance.tail)?.[1]), 'SIGKILL'));
  await expect(instance.kill(20)).rejects.toThrow('was killed, and something still listens at port');
});
