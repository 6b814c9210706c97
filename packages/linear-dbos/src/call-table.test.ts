/** Several instances write about one call, and only its owner succeeds. On a real PostgreSQL. */
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import { CallTable, tableOfCalls } from './call-table.ts';
import { Locks } from './locks.ts';

const [OWNER, OTHER, THIRD] = ['1', '2', '3'] as const;

const { database, test } = await postgresOfTheRun();
let pool: Pool;
let calls: CallTable;

beforeAll(async () => {
  pool = new Pool({ connectionString: await database() });
  await pool.query(tableOfCalls('public'));
  const locks = new Locks(pool, 'public');
  await locks.create();
  calls = new CallTable(pool, 'public', locks);
});
afterAll(() => pool.end());

async function addCall(id: string): Promise<string> {
  const head = Buffer.from('head');
  await calls.add({
    id,
    instance: OWNER,
    version: '1',
    principal: undefined,
    target: 'digest',
    key: head,
    head,
    ttlSeconds: 60,
    ofPrincipal: { calls: 1, bytes: 1000 },
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

test('an instance that lost a call can publish nothing more of it', async () => {
  const id = await addCall('lost');
  expect(await calls.takeOver(id, OWNER, OTHER)).toBe(true);
  expect(await calls.publish(id, OWNER, turn(1, 'late'))).toBe(false);
  expect(await calls.publish(id, OTHER, turn(1, 'in time'))).toBe(true);
  expect(await calls.read(id)).toMatchObject({ instance: OTHER, turn: 1, body: Buffer.from('in time') });
  expect(await calls.read(id)).toMatchObject({ key: Buffer.from('key of 1') });
});

test('one of several instances that take over a call gets it, and may repeat the statement', async () => {
  const id = await addCall('contested');
  const taken = await Promise.all([OTHER, THIRD].map((to) => calls.takeOver(id, OWNER, to)));
  expect(taken.filter(Boolean)).toHaveLength(1);
  const winner = taken[0] ? OTHER : THIRD;
  expect(await calls.takeOver(id, OWNER, winner)).toBe(true);
  expect(await calls.read(id)).toMatchObject({ instance: winner });
});

test('a turn ends once, and an ended call can be neither published nor taken over', async () => {
  const id = await addCall('ended');
  expect(await calls.publish(id, OWNER, turn(1, 'first'))).toBe(true);
  // Repeated, as after a lost connection; and from another run of the same turn.
  expect(await calls.publish(id, OWNER, turn(1, 'first'))).toBe(true);
  expect(await calls.publish(id, OWNER, turn(1, 'another'))).toBe(false);
  expect(await calls.publish(id, OWNER, turn(3, 'out of turn'))).toBe(false);
  expect(await calls.end(id, turn(2, 'given up', true))).toBe(true);
  expect(await calls.publish(id, OWNER, turn(2, 'too late'))).toBe(false);
  expect(await calls.end(id, turn(2, 'given up again', true))).toBe(false);
  expect(await calls.takeOver(id, OWNER, OTHER)).toBe(false);
  expect(await calls.read(id)).toMatchObject({ turn: 2, done: true, body: Buffer.from('given up') });
});
