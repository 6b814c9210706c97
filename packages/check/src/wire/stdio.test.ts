import { ServerProcess } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import { stdioChannel } from './stdio.ts';

test('says that a server has closed its standard input, and does not wait for an answer', async () => {
  const deaf = 'require("fs").closeSync(0); console.log("{}"); setInterval(() => {}, 1000)';
  const server = new ServerProcess(process.execPath, ['-e', deaf]);
  try {
    await new Promise<void>((resolve) => server.onLine(() => resolve()));
    const channel = stdioChannel(server, { timeoutMs: 20_000, over: new AbortController().signal });
    const { failure, late } = await channel.send({ method: 'x', params: {} });
    expect([failure, late]).toEqual(['the process has closed its standard input', undefined]);
  } finally {
    await server.kill();
  }
});
