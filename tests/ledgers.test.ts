/**
 * One contract, every ledger. PostgreSQL runs embedded everywhere; the real servers run where `MRTR_TEST_REDIS` and
 * `MRTR_TEST_POSTGRES` name one (`.ci/run` starts both).
 */
import { randomBytes } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import { MemoryLedger } from '@mrtr/core';
import { type LedgerUnderTest, ledgerContract } from '@mrtr/ledgers/contract';
import { PostgresLedger, type Queryable } from '@mrtr/ledgers/postgres';
import { RedisLedger } from '@mrtr/ledgers/redis';
import pg from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const toClose: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of toClose) await close();
});

ledgerContract('memory', async () => {
  let now = Date.now();
  const ledger = new MemoryLedger({ now: () => now });
  return {
    another: async () => ledger,
    lapse: async () => {
      now += 1001;
    },
  };
});

let embedded: PGlite;
// It makes a whole database when it starts, which takes seconds.
beforeAll(async () => {
  embedded = await PGlite.create();
  toClose.push(() => embedded.close());
}, 60_000);
ledgerContract('embedded PostgreSQL', () => onPostgres(embedded, async () => embedded));

const postgres = process.env.MRTR_TEST_POSTGRES;
if (postgres === undefined) notRun('PostgreSQL', 'MRTR_TEST_POSTGRES');
else {
  ledgerContract('PostgreSQL', async () => {
    const pool = async () => {
      const made = new pg.Pool({ connectionString: postgres, max: 4 });
      toClose.push(() => made.end());
      return made;
    };
    return onPostgres(await pool(), pool);
  });
  describe('a ledger on PostgreSQL', () => {
    it('goes on after its connections were cut', async () => {
      const application_name = table();
      const pool = new pg.Pool({ connectionString: postgres, max: 2, application_name });
      pool.on('error', () => {});
      toClose.push(() => pool.end());
      const ledger = new PostgresLedger(pool, { table: table() });
      await ledger.createTable();
      expect(await ledger.claim('a', later(), 30)).toEqual({ kind: 'first' });
      const admin = new pg.Client({ connectionString: postgres });
      await admin.connect();
      await admin.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
        [application_name],
      );
      await admin.end();
      expect(await retried(() => ledger.claim('a', later(), 30))).toEqual({ kind: 'in-flight' });
    });
  });
}

const redis = process.env.MRTR_TEST_REDIS;
if (redis === undefined) notRun('Redis', 'MRTR_TEST_REDIS');
else {
  const connect = async () => {
    const client = createClient({ url: redis });
    client.on('error', () => {});
    await client.connect();
    toClose.push(() => client.close());
    return client;
  };
  ledgerContract('Redis', async () => {
    const admin = await connect();
    const prefix = `test:${randomBytes(6).toString('hex')}:`;
    return {
      another: async () => new RedisLedger(await connect(), { prefix }),
      lapse: async (id) => void (await admin.hSet(prefix + id, 'lease', '0')),
    };
  });
  describe('a ledger on Redis', () => {
    it('lets Redis forget a token after it has expired, and not before', async () => {
      const client = await connect();
      const prefix = `test:${randomBytes(6).toString('hex')}:`;
      const ledger = new RedisLedger(client, { prefix });
      const expiresAt = later();
      await ledger.claim('a', expiresAt, 30);
      expect(await client.expireTime(`${prefix}a`)).toBe(expiresAt);
    });
    it('goes on after its connection was cut', async () => {
      const [client, admin] = [await connect(), await connect()];
      const ledger = new RedisLedger(client, { prefix: `test:${randomBytes(6).toString('hex')}:` });
      expect(await ledger.claim('a', later(), 30)).toEqual({ kind: 'first' });
      await admin.sendCommand(['CLIENT', 'KILL', 'ID', String(await client.sendCommand(['CLIENT', 'ID']))]);
      expect(await retried(() => ledger.claim('a', later(), 30))).toEqual({ kind: 'in-flight' });
    });
  });
}

it('a ledger on PostgreSQL deletes what has expired', async () => {
  const db = embedded;
  const name = table();
  const ledger = new PostgresLedger(db, { table: name, sweepSeconds: 0 });
  await ledger.createTable();
  await ledger.claim('old', Math.floor(Date.now() / 1000) - 10, 30);
  await ledger.claim('new', later(), 30);
  const { rows } = await db.query(`SELECT id FROM ${name}`);
  expect(rows).toEqual([{ id: 'new' }]);
});

it('a ledger on PostgreSQL takes no table name that is a statement', () => {
  expect(
    () => new PostgresLedger({ query: async () => ({ rows: [] }) }, { table: 'a; DROP TABLE b' }),
  ).toThrow(TypeError);
});

async function onPostgres(admin: Queryable, connect: () => Promise<Queryable>): Promise<LedgerUnderTest> {
  const name = table();
  await Promise.all([1, 2].map(() => new PostgresLedger(admin, { table: name }).createTable()));
  return {
    another: async () => new PostgresLedger(await connect(), { table: name }),
    lapse: async (id) =>
      void (await admin.query(`UPDATE ${name} SET lease_until = now() - interval '1 second' WHERE id = $1`, [
        id,
      ])),
  };
}

const table = () => `t_${randomBytes(6).toString('hex')}`;
const later = () => Math.ceil(Date.now() / 1000) + 60;

/** A driver may report the cut to the first caller after it; the second gets a new connection. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch {
    return attempt();
  }
}

function notRun(server: string, variable: string): void {
  it.skip(`the ledger on ${server} (not run: ${variable} names no server; the embedded one stands in)`, () => {});
}
