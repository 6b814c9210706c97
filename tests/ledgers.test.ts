/** Every ledger against the contract, and the behaviour that only one of them has. */
import { randomBytes } from 'node:crypto';
import { InvalidPolicy, MemoryInteractions, MemoryLedger, type StateLedger } from '@mrtr/core';
import {
  type InteractionsUnderTest,
  interactionsContract,
  type LedgerUnderTest,
  ledgerContract,
} from '@mrtr/ledgers/contract';
import { PostgresInteractions, PostgresLedger } from '@mrtr/ledgers/postgres';
import { RedisInteractions, RedisLedger } from '@mrtr/ledgers/redis';
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cut } from '../packages/linear-dbos/src/database.test-support.ts';
import { redisOfThisFile } from './testkit/redis.ts';

const toClose: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of toClose.reverse()) await close();
});

const random = () => randomBytes(6).toString('hex');
const presented = (id: string, expiresAt = Date.now() + 60_000) => ({
  id,
  answers: 'yes',
  expiresAt,
  leaseSeconds: 30,
  principal: undefined,
  now: Date.now(),
});

/** A driver may report a cut connection to the first caller after the cut. The second caller gets a new connection. */
const retried = <T>(attempt: () => Promise<T>): Promise<T> => attempt().catch(attempt);

/** The later claims of anonymous tokens whose results have these sizes. */
async function recorded(ledger: StateLedger, sizes: readonly number[]): Promise<string[]> {
  const kinds: string[] = [];
  for (const bytes of sizes) {
    const id = random();
    await ledger.claim(presented(id));
    await ledger.settle(id, 'x'.repeat(bytes));
    kinds.push((await ledger.claim(presented(id))).kind);
  }
  return kinds;
}

ledgerContract('memory', async () => {
  let passed = 0;
  const now = () => Date.now() + passed;
  const ledger = new MemoryLedger({ now });
  return {
    another: async (limits) => (limits ? new MemoryLedger({ ...limits, now }) : ledger),
    lapse: async () => {
      passed += 1001;
    },
  };
});

interactionsContract('memory', async () => {
  let now = 0;
  const store = new MemoryInteractions({ now: () => now });
  return {
    another: async (limits) => (limits ? new MemoryInteractions({ ...limits, now: () => now }) : store),
    lapse: async () => {
      now += 60_000;
    },
  };
});

const { database, missing } = await postgresOfTheRun();

describe.skipIf(missing !== undefined)('on PostgreSQL', () => {
  let url: string;
  beforeAll(async () => {
    url = await database();
  });

  function pool(): Pool {
    const made = new Pool({ connectionString: url, max: 4 }).on('error', () => {});
    toClose.push(() => made.end());
    return made;
  }

  ledgerContract('PostgreSQL', async (): Promise<LedgerUnderTest> => {
    const table = `t_${random()}`;
    const admin = pool();
    await Promise.all([1, 2].map(() => new PostgresLedger(admin, { table }).createTable()));
    const lapsed = `UPDATE ${table} SET lease_until = now() - interval '1 second' WHERE id = $1`;
    return {
      another: async (limits) => new PostgresLedger(pool(), { table, ...limits }),
      lapse: async (id) => void (await admin.query(lapsed, [id])),
    };
  });

  interactionsContract('PostgreSQL', async (): Promise<InteractionsUnderTest> => {
    const table = `t_${random()}`;
    const admin = pool();
    await Promise.all([1, 2].map(() => new PostgresInteractions(admin, { table }).createTable()));
    return {
      another: async (limits) => new PostgresInteractions(pool(), { table, ...limits }),
      lapse: async (id) =>
        void (await admin.query(`UPDATE ${table} SET ends_at = now() WHERE id = $1`, [id])),
    };
  });

  test('there is room for as many interactions as a sweep counts, and what is over is deleted', async () => {
    const store = new PostgresInteractions(pool(), { table: 'few', sweepSeconds: 0, maxEntries: 1 });
    await store.createTable();
    const add = (id: string) => store.add({ id, principal: id, value: 'x', ttlSeconds: 60 });
    expect(await add('a')).toBe(true);
    await expect(add('b')).rejects.toMatchObject({ code: 'store_full' });
    await query(url, 'UPDATE few SET ends_at = now()');
    expect(await add('b')).toBe(true);
    expect(await query(url, 'SELECT id FROM few')).toEqual([{ id: 'b' }]);
  });

  test('a ledger works again after its connections were cut', async () => {
    const ledger = new PostgresLedger(pool());
    await ledger.createTable();
    expect(await ledger.claim(presented('a'))).toEqual({ kind: 'first' });
    await cut(url);
    expect(await retried(() => ledger.claim(presented('a')))).toEqual({ kind: 'in-flight' });
  });

  test('a ledger accepts no more tokens than its limit, counted at each sweep', async () => {
    const ledger = new PostgresLedger(pool(), { table: 'small', sweepSeconds: 0, maxEntries: 2 });
    await ledger.createTable();
    for (const id of ['a', 'b']) expect(await ledger.claim(presented(id))).toEqual({ kind: 'first' });
    await expect(ledger.claim(presented('c'))).rejects.toMatchObject({ code: 'store_full' });
  });

  test('a ledger keeps no more bytes of results than it may, and has room again when they are forgotten', async () => {
    const ledger = new PostgresLedger(pool(), { table: 'heavy', sweepSeconds: 0, maxBytes: 1000 });
    await ledger.createTable();
    expect(await recorded(ledger, [600, 401, 400])).toEqual(['settled', 'lost', 'settled']);
    await query(url, "UPDATE heavy SET forget_at = now() - interval '1 second'");
    expect(await recorded(ledger, [1000])).toEqual(['settled']);
  });

  test('instances that create the table at once all succeed', async () => {
    const ledgers = Array.from({ length: 8 }, () => new PostgresLedger(pool(), { table: 'created_at_once' }));
    await Promise.all(ledgers.map((ledger) => ledger.createTable()));
  });

  test('a ledger deletes expired entries', async () => {
    const ledger = new PostgresLedger(pool(), { table: 'swept', sweepSeconds: 0 });
    await ledger.createTable();
    await ledger.claim(presented('old'));
    await query(url, "UPDATE swept SET forget_at = now() - interval '1 second'");
    await ledger.claim(presented('new'));
    expect(await query(url, 'SELECT id FROM swept')).toEqual([{ id: 'new' }]);
  });
});

test('a ledger on PostgreSQL rejects a table name that is a statement', () => {
  const db = { query: async () => ({ rows: [] }) };
  expect(() => new PostgresLedger(db, { table: 'a; DROP TABLE b' })).toThrow(InvalidPolicy);
});

const redis = await redisOfThisFile();

describe.skipIf(redis === undefined)('on Redis', () => {
  afterAll(() => redis?.stop());

  async function connected() {
    const client = createClient(redis?.options).on('error', () => {});
    await client.connect();
    toClose.push(() => client.close());
    return client;
  }

  ledgerContract('Redis', async (): Promise<LedgerUnderTest> => {
    const admin = await connected();
    const prefix = `test:${random()}:`;
    return {
      another: async (limits) => new RedisLedger(await connected(), { prefix, ...limits }),
      lapse: async (id) => void (await admin.hSet(`${prefix}entry:${id}`, 'lease', '0')),
    };
  });

  interactionsContract('Redis', async (): Promise<InteractionsUnderTest> => {
    const admin = await connected();
    const prefix = `test:${random()}:`;
    return {
      another: async (limits) => new RedisInteractions(await connected(), { prefix, ...limits }),
      // Redis has no clock that a test could turn: the interaction goes, and its place in the indices is over.
      lapse: async (id) => {
        await admin.del(`${prefix}entry:${id}`);
        for (const key of await admin.keys(`${prefix}index*`))
          await admin.zAdd(key, { score: 1, value: id }, { condition: 'XX' });
      },
    };
  });

  test('Redis has room for as many interactions as it may hold, and forgets them by itself', async () => {
    const client = await connected();
    const prefix = `test:${random()}:`;
    const store = new RedisInteractions(client, { prefix, maxEntries: 1 });
    const begun = { id: 'a', principal: 'ada', value: 'x', ttlSeconds: 60 };
    await store.add(begun);
    await expect(store.add({ ...begun, id: 'b', principal: 'bob' })).rejects.toMatchObject({
      code: 'store_full',
    });
    await store.replace('a', 'x', 'y');
    for (const key of ['entry:a', 'index', 'index:ada']) {
      const left = await client.pTTL(prefix + key);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(60_000);
    }
  });

  test('a ledger lets Redis forget a token a minute after it expires, and not before', async () => {
    const client = await connected();
    const prefix = `test:${random()}:`;
    const expiresAt = Date.now() + 60_000;
    await new RedisLedger(client, { prefix }).claim(presented('a', expiresAt));
    expect(await client.pExpireTime(`${prefix}entry:a`)).toBe(expiresAt + 60_000);
  });

  test('a ledger keeps no more bytes of results than it may, and has room again when they are forgotten', async () => {
    const client = await connected();
    const prefix = `test:${random()}:`;
    const ledger = new RedisLedger(client, { prefix, maxBytes: 1000 });
    expect(await recorded(ledger, [600, 401, 400])).toEqual(['settled', 'lost', 'settled']);
    // Let the minute pass in which they are forgotten.
    const sizes = await client.hGetAll(`${prefix}bytes`);
    expect(Object.values(sizes)).toEqual(['1000']);
    await client.hDel(`${prefix}bytes`, Object.keys(sizes));
    await client.hSet(`${prefix}bytes`, '1', '1000');
    expect(await recorded(ledger, [1000])).toEqual(['settled']);
    expect(await client.pExpireTime(`${prefix}bytes`)).toBeLessThanOrEqual(Date.now() + 180_000);
  });

  test('the sums of results stay few, also if tokens live long', async () => {
    const client = await connected();
    const prefix = `test:${random()}:`;
    const ledger = new RedisLedger(client, { prefix });
    for (let day = 1; day <= 190; day++) {
      const id = random();
      await ledger.claim(presented(id, Date.now() + day * 86_400_000));
      await ledger.settle(id, 'x');
    }
    const sizes = Object.values(await client.hGetAll(`${prefix}bytes`));
    expect(sizes.reduce((sum, size) => sum + Number(size), 0)).toBe(190);
    expect(sizes.length).toBeLessThan(50);
  });

  test('a ledger works again after its connection was cut', async () => {
    const [client, admin] = [await connected(), await connected()];
    const ledger = new RedisLedger(client, { prefix: `test:${random()}:` });
    expect(await ledger.claim(presented('a'))).toEqual({ kind: 'first' });
    await admin.sendCommand(['CLIENT', 'KILL', 'ID', String(await client.sendCommand(['CLIENT', 'ID']))]);
    expect(await retried(() => ledger.claim(presented('a')))).toEqual({ kind: 'in-flight' });
  });
});
