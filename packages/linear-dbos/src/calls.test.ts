/** Of several instances that say something about one call, which one is heard. On a real PostgreSQL. */
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Calls, tableOfCalls } from './calls.ts';
import { type PostgresServer, testServer } from './database.test-support.ts';

const [OWNER, OTHER, THIRD] = ['1', '2', '3'] as const;

let server: PostgresServer;
let pool: Pool;
let calls: Calls;

beforeAll(async () => {
  server = await testServer();
  pool = new Pool({ connectionString: await server.database() });
  await pool.query(tableOfCalls('public'));
  calls = new Calls(pool, 'public');
}, 60_000);
afterAll(async () => {
  await pool.end();
  await server.stop();
});

async function added(id: string): Promise<string> {
  const head = Buffer.from('head');
  await calls.add({
    id,
    instance: OWNER,
    version: '1',
    principal: undefined,
    key: head,
    head,
    ttlSeconds: 60,
    maxOfPrincipal: 1,
  });
  return id;
}

const turn = (number: number, body: string, done = false) => ({
  turn: number,
  done,
  body: Buffer.from(body),
  key: Buffer.from(`key of ${number}`),
  keepSeconds: 60,
});

test('who has lost a call publishes nothing of it any more', async () => {
  const id = await added('lost');
  expect(await calls.claim(id, OWNER, OTHER)).toBe(true);
  expect(await calls.publish(id, OWNER, turn(1, 'late'))).toBe(false);
  expect(await calls.publish(id, OTHER, turn(1, 'in time'))).toBe(true);
  expect(await calls.read(id)).toMatchObject({ instance: OTHER, turn: 1, body: Buffer.from('in time') });
  expect(await calls.read(id)).toMatchObject({ key: Buffer.from('key of 1') });
});

test('of several that take a call over one gets it, and may say so again', async () => {
  const id = await added('contested');
  const claims = await Promise.all([OTHER, THIRD].map((to) => calls.claim(id, OWNER, to)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  const winner = claims[0] ? OTHER : THIRD;
  expect(await calls.claim(id, OWNER, winner)).toBe(true);
  expect(await calls.read(id)).toMatchObject({ instance: winner });
});

test('a turn ends once, whoever says it twice, and a call that is over goes nowhere', async () => {
  const id = await added('ended');
  expect(await calls.publish(id, OWNER, turn(1, 'first'))).toBe(true);
  // Said again, because nobody knew whether it had been heard; and by another run of the same turn.
  expect(await calls.publish(id, OWNER, turn(1, 'first'))).toBe(true);
  expect(await calls.publish(id, OWNER, turn(1, 'another'))).toBe(false);
  expect(await calls.publish(id, OWNER, turn(3, 'out of turn'))).toBe(false);
  expect(await calls.end(id, turn(2, 'given up', true))).toBe(true);
  expect(await calls.publish(id, OWNER, turn(2, 'too late'))).toBe(false);
  expect(await calls.end(id, turn(2, 'given up again', true))).toBe(false);
  expect(await calls.claim(id, OWNER, OTHER)).toBe(false);
  expect(await calls.read(id)).toMatchObject({ turn: 2, done: true, body: Buffer.from('given up') });
});
