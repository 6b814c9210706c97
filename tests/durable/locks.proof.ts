/** Other database roles and other principals cannot block an instance, on a real PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { requestStatePolicy } from '@mrtr/core';
import { DbosStore } from '@mrtr/linear-dbos';
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { Client, Pool } from 'pg';
import { expect, onTestFinished } from 'vitest';
import { callTable, tableOfCalls } from '../../packages/linear-dbos/src/call-table.ts';
import { locksIn } from '../../packages/linear-dbos/src/locks.ts';

const { database, test } = await postgresOfTheRun();

/** A session in an open transaction that has run `text`. */
async function holding(url: string, text: string): Promise<Client> {
  const session = new Client(url);
  await session.connect();
  onTestFinished(() => session.end());
  await session.query(`BEGIN; ${text}`);
  return session;
}

async function instance(url: string, poolSize: number) {
  const pool = new Pool({ connectionString: url, max: poolSize });
  onTestFinished(() => pool.end());
  const locks = locksIn(pool, 'public');
  await locks.create();
  await pool.query(tableOfCalls('public'));
  const calls = callTable(pool, 'public', locks);
  const sealed = Buffer.from('sealed');
  const call = { instance: '1', version: '1', target: 'digest', key: sealed, head: sealed, ttlSeconds: 60 };
  const add = (id: string, pseudonym: string | undefined, ofPrincipal = { calls: 1000, bytes: 10_000 }) =>
    calls.add({ ...call, id, pseudonym, ofPrincipal });
  return { pool, locks, calls, add };
}

test('a role that can only connect cannot stop a new instance', async () => {
  const postgres = await database();
  const [role, password] = [`stranger_${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')];
  await query(postgres, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  onTestFinished(() => query(postgres, `DROP ROLE ${role}`).then(() => {}));
  const asStranger = Object.assign(new URL(postgres), { username: role, password }).href;
  await holding(asStranger, "SELECT pg_advisory_lock(hashtext('mrtr-linear launch'))");
  const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse: false });
  const store = await DbosStore.open({ postgres, policy, version: '1' });
  onTestFinished(() => store.close());
  const locked = query(asStranger, 'SELECT FROM mrtr_linear.mrtr_locks FOR UPDATE');
  await expect(locked).rejects.toMatchObject({ code: '42501' });
});

test('calls that wait for their principal’s lock hold no connection', async () => {
  const url = await database();
  const { add, calls, pool } = await instance(url, 2);
  const holder = await holding(url, 'SELECT FROM mrtr_locks WHERE id > 0 FOR UPDATE');
  const waiting = Array.from({ length: 20 }, (_, n) => add(`ada ${n}`, 'ada'));
  // Meanwhile another caller gets a connection, because it needs no lock.
  for (let n = 0; n < 20; n++) expect(await add(`anonymous ${n}`, undefined)).toBe(undefined);
  expect(await calls.read('ada 0')).toBeUndefined();
  expect(pool.waitingCount).toBe(0);
  await holder.query('COMMIT');
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => undefined));
});

test('a principal that starts calls at once on two instances gets exactly as many as its limit allows', async () => {
  const url = await database();
  const instances = [await instance(url, 4), await instance(url, 4)];
  const added = Array.from({ length: 40 }, (_, n) =>
    instances[n % 2]?.add(`call ${n}`, 'ada', { calls: 7, bytes: 10_000 }),
  );
  expect((await Promise.all(added)).filter((full) => full === undefined)).toHaveLength(7);
});

test('the wait for a lock of another instance is limited, and a later attempt gets the lock', async () => {
  const url = await database();
  const { pool } = await instance(url, 2);
  const locks = locksIn(pool, 'public', 20);
  const holder = await holding(url, 'SELECT FROM mrtr_locks WHERE id > 0 FOR UPDATE');
  const waiting = locks.withPseudonymLock('ada', async () => 'done');
  await expect(waiting).rejects.toThrow(/^Another instance holds lock \d+ for more than 20 ms\.$/);
  await holder.query('COMMIT');
  expect(await locks.withPseudonymLock('ada', async () => 'done')).toBe('done');
});

test('work that fails under a lock is rolled back, and the lock is given back', async () => {
  const url = await database();
  const { locks } = await instance(url, 2);
  const failing = locks.withPseudonymLock('ada', async (client) => {
    await client.query('DELETE FROM mrtr_locks');
    throw new Error('too bad');
  });
  await expect(failing).rejects.toThrow('too bad');
  const count = await locks.withPseudonymLock('ada', async (client) =>
    client.query('SELECT FROM mrtr_locks'),
  );
  expect(count.rowCount).toBe(1024);
});
