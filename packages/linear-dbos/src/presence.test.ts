/** Connections that are lost at a bad moment. */
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { requestStatePolicy } from '@mrtr/core';
import type { Pool } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { presenceOn } from './presence.ts';
import { DbosStore } from './store.ts';

const policy = requestStatePolicy({ keys: ['k'.repeat(32)] });

/** A message of PostgreSQL. */
const message = (type: string, body: string) => {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
};

test('a database that ends a session as it begins causes an error, and does not end the process', async () => {
  const fatal = message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');
  // In one piece, so that no other code runs in between.
  const hello = Buffer.concat([message('R', '\0\0\0\0'), message('Z', 'I'), fatal]);
  const listener = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(hello));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void listener.close());
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const opening = DbosStore.open({
    postgres: `postgres://mrtr@127.0.0.1:${port}/none`,
    policy,
    version: '1',
  });
  await expect(opening).rejects.toThrow('not queryable');
});

/** A session that accepts one statement at a time, and is lost at one that `isLast`. */
class Session extends EventEmitter {
  #busy = false;
  isReleased = false;
  readonly sent: string[] = [];
  readonly query: (text: string) => Promise<void>;

  constructor(isLast: (text: string) => boolean = () => false) {
    super();
    this.query = async (text) => {
      if (this.#busy) throw new Error('Two at once.');
      this.#busy = true;
      await new Promise((resolve) => setImmediate(resolve));
      this.#busy = false;
      this.sent.push(text);
      if (!isLast(text)) return;
      this.emit('end');
      throw new Error('gone');
    };
  }

  readonly release = () => {
    this.isReleased = true;
  };
}

test('a session that is lost again while it reconnects is replaced by exactly one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const sessions: Session[] = [];
  const connect = async () => {
    const isLost = sessions.length >= 1 && sessions.length <= 3;
    const session = new Session((text) => isLost && text === 'LISTEN mrtr_linear_2');
    sessions.push(session);
    return session;
  };
  const presence = presenceOn({ connect } as unknown as Pool, 10_000, () => {});
  for (const instance of ['1', '2']) await presence.hold(instance);
  sessions[0]?.emit('error', new Error('gone'));
  for (let turn = 0; turn < 400; turn++) await vi.advanceTimersByTimeAsync(100);
  expect(sessions.map(({ isReleased }) => isReleased)).toEqual([true, true, true, true, false]);
  const taken = sessions.at(-1)?.sent.filter((text) => text.includes('pg_advisory_lock'));
  expect(taken).toEqual(['SELECT pg_advisory_lock(1)', 'SELECT pg_advisory_lock(2)']);
  presence.close();
});

test('instances that come and go at once are shown one statement at a time', async () => {
  const presence = presenceOn({ connect: async () => new Session() } as unknown as Pool, 10_000, () => {});
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
  const presence = presenceOn({ connect } as unknown as Pool, 10_000, (error) => {
    errors.push((error as Error).message);
  });
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
