import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { ServerProcess } from './server-process.ts';

test('processes that a server started end with it', async () => {
  // The connection closes when the process that holds it ends, so nothing has to be polled.
  const connected = createServer().listen(0, '127.0.0.1');
  await once(connected, 'listening');
  const { port } = connected.address() as { port: number };
  const left = `require('net').connect(${port}, '127.0.0.1').resume(); setInterval(() => {}, 1000)`;
  const script = '"$0" -e "$1" & while ! read -r line; do :; done; exit 3';
  const server = new ServerProcess('/bin/sh', ['-c', script, process.execPath, left]);
  try {
    const [socket] = await once(connected, 'connection');
    const gone = once(socket.resume(), 'close').catch(() => {});
    server.write('now\n');
    expect(await server.ended).toBe('exit code 3');
    await gone;
  } finally {
    await server.kill();
    connected.close();
  }
});
