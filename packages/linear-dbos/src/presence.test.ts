/** Connections that are lost at a bad moment. */
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { requestStatePolicy } from '@mrtr/core';
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { Pool } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { cut } from './database.test-support.ts';
import { Presence } from './presence.ts';
import { DbosStore } from './store.ts';

const policy = requestStatePolicy({ keys: ['k'.repeat(32)] });
const PATIENCE = { timeout: 60_000, interval: 10 };

const { database, test: onPostgres } = await postgresOfTheRun();

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

test('a database that ends a session as it begins causes an error, and does not end the process', async () => {
  const fatal = message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');
  const host = await listening((socket) => {
    // In one piece, so that no other code runs in between.
    const hello = Buffer.concat([message('R', '\0\0\0\0'), message('Z', 'I'), fatal]);
    socket.on('error', () => {}).once('data', () => socket.end(hello));
  });
  const opening = DbosStore.open({ postgres: `postgres://mrtr@${host}/none`, policy, version: '1' });
  await expect(opening).rejects.toThrow('not queryable');
});

onPostgres('a session that is lost again while it reconnects is replaced by exactly one', async () => {
  const postgres = await database();
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
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const pool = new Pool({ connectionString: Object.assign(new URL(postgres), { host }).href });
  const presence = new Presence(
    pool.on('error', () => {}),
    10_000,
    () => {},
  );
  onTestFinished(() => {
    presence.close();
    return pool.end();
  });
  for (const instance of ['1', '2']) await presence.hold(instance);
  const locks = () =>
    query<{ sessions: string; held: string; awaited: string }>(
      postgres,
      `SELECT count(DISTINCT pid) AS sessions, count(*) FILTER (WHERE granted) AS held,
         count(*) FILTER (WHERE NOT granted) AS awaited
       FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
  const whole = [{ sessions: '1', held: '2', awaited: '0' }];
  expect(await locks()).toEqual(whole);
  losses = 3;
  await cut(postgres);
  const anew = async () => {
    // A moment of the wait before the next attempt.
    vi.advanceTimersByTime(100);
    expect([losses, await locks()]).toEqual([0, whole]);
  };
  await vi.waitFor(anew, PATIENCE);
});

/** A session that accepts one statement at a time. */
class Session extends EventEmitter {
  #busy = false;
  readonly query = async () => {
    if (this.#busy) throw new Error('Two at once.');
    this.#busy = true;
    await new Promise((resolve) => setImmediate(resolve));
    this.#busy = false;
  };
  readonly release = () => {};
}

test('instances that come and go at once are shown one statement at a time', async () => {
  const presence = new Presence({ connect: async () => new Session() } as unknown as Pool, 10_000, () => {});
  const instances = ['1', '2', '3', '4'];
  await presence.hold('0');
  const coming = instances.map((instance) => presence.hold(instance));
  await Promise.all([...coming, presence.drop('0')]);
  await Promise.all(instances.map((instance) => presence.drop(instance)));
  presence.close();
});

test('while the database is gone, reconnecting slows down and is reported once a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let session: Session | undefined = new Session();
  let attempts = 0;
  const errors: string[] = [];
  const connect = async () => {
    attempts++;
    if (session) return session;
    throw new Error('connect ECONNREFUSED');
  };
  const presence = new Presence({ connect } as unknown as Pool, 10_000, ({ message }) =>
    errors.push(message),
  );
  await presence.hold('1');
  const first = session;
  session = undefined;
  attempts = 0;
  first.emit('error', new Error('gone'));
  const lost = 'The session that shows this instance as alive was lost.';
  expect(errors).toEqual([lost]);
  await vi.advanceTimersByTimeAsync(59_000);
  expect([attempts, errors]).toEqual([15, [lost]]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(errors).toEqual([lost, 'connect ECONNREFUSED']);
  const second = new Session();
  session = second;
  await vi.advanceTimersByTimeAsync(5000);
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve));
  session = new Session();
  second.emit('error', new Error('gone again'));
  expect(errors).toEqual([lost, 'connect ECONNREFUSED', lost]);
  presence.close();
});
