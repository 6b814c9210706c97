/** Connections that are lost at the worst moment. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { requestStatePolicy } from '@mrtr/core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { cut, type PostgresServer, query, testServer } from './database.test-support.ts';
import { DbosStore } from './store.ts';

const policy = requestStatePolicy({ keys: ['k'.repeat(32)] });
const PATIENCE = { timeout: 10_000, interval: 50 };

let server: PostgresServer;
beforeAll(async () => {
  server = await testServer();
}, 60_000);
afterAll(() => server.stop());

async function listening(onConnection: (socket: Socket) => void): Promise<string> {
  const listener = createServer(onConnection).listen(0, '127.0.0.1');
  onTestFinished(() => void listener.close());
  await once(listener, 'listening');
  return `127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

/** A message of PostgreSQL. */
const message = (type: string, body: string) => {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
};

test('a database that ends a session in the very moment it begins is an error, and not the end of the process', async () => {
  const fatal = message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');
  const host = await listening((socket) => {
    // All in one piece, so that nobody has a turn in between.
    const hello = Buffer.concat([message('R', '\0\0\0\0'), message('Z', 'I'), fatal]);
    socket.on('error', () => {}).once('data', () => socket.end(hello));
  });
  const opening = DbosStore.open({ postgres: `postgres://mrtr@${host}/none`, policy, version: '1' });
  await expect(opening).rejects.toThrow('not queryable');
});

test('a session that is lost while it is made anew is made anew once', async () => {
  const postgres = await server.database();
  const { hostname, port } = new URL(postgres);
  let losses = 0;
  const host = await listening((socket) => {
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const)
      from.on('error', () => {}).on('close', () => to.destroy());
    upstream.pipe(socket);
    socket.on('data', (data) => {
      if (losses > 0 && data.includes('LISTEN mrtr_linear_')) {
        losses--;
        socket.destroy();
      } else upstream.write(data);
    });
  });
  const through = Object.assign(new URL(postgres), { host });
  const store = await DbosStore.open({ postgres: through.href, policy, version: '1' });
  onTestFinished(() => store.close());
  const locks = () =>
    query<{ sessions: string; held: string; awaited: string }>(
      postgres,
      `SELECT count(DISTINCT pid) AS sessions, count(*) FILTER (WHERE granted) AS held,
         count(*) FILTER (WHERE NOT granted) AS awaited
       FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
  // The process's own, and the store's.
  const whole = [{ sessions: '1', held: '2', awaited: '0' }];
  expect(await locks()).toEqual(whole);
  losses = 3;
  await cut(postgres);
  await vi.waitFor(async () => expect([losses, await locks()]).toEqual([0, whole]), PATIENCE);
}, 20_000);
