/** Runs the contract on every ledger, and tests the behaviour of single ones. `ledgers.proof.ts` crashes them. */
import { InvalidOption, MemoryLedger } from '@mrtr/core';
import type { StateLedger } from '@mrtr/core/seal';
import { interactionsContract, ledgerContract } from '@mrtr/ledgers/contract';
import { PostgresInteractions, PostgresLedger, type Queryable } from '@mrtr/ledgers/postgres';
import { type RedisClient, RedisInteractions, RedisLedger } from '@mrtr/ledgers/redis';
import { MemoryInteractions } from '@mrtr/pages';
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { FIRST, leaseRequest, takeLease } from '../../packages/ledgers/src/contract-requests.ts';
import { cut } from '../../packages/linear-dbos/src/database.test-support.ts';
import { type Redis, redisOfThisFile } from '../testkit/redis.ts';
import { begun, connectedTo, heardWarnings, random, retried } from './ledgers.test-support.ts';

/** Forwards replies, but loses the first one to such a command, like a socket that closes. */
function loseOnce(isLost: (command: string) => boolean): <T>(command: string, reply: T) => T {
  let wasLost = false;
  return (command, reply) => {
    if (wasLost || !isLost(command)) return reply;
    wasLost = true;
    throw new Error('Socket closed unexpectedly');
  };
}

/** Loses the reply to a lease, and expects that the token can be leased again long before that lease ends. */
async function expectGivenBack(ledger: StateLedger): Promise<void> {
  const token = leaseRequest(random());
  await expect(ledger.lease(token)).rejects.toThrow('Socket closed unexpectedly');
  await vi.waitFor(async () => expect(await ledger.lease(token)).toEqual(FIRST), 60_000);
}

/** Records results of these sizes for anonymous tokens, and returns the decisions of later leases. */
async function recorded(ledger: StateLedger, sizes: readonly number[]): Promise<string[]> {
  const kinds: string[] = [];
  for (const bytes of sizes) {
    const id = random();
    await ledger.settle(id, await takeLease(ledger, leaseRequest(id)), 'x'.repeat(bytes));
    kinds.push((await ledger.lease(leaseRequest(id))).kind);
  }
  return kinds;
}

ledgerContract('memory', async () => {
  let passed = 0;
  const now = () => Date.now() + passed;
  const ledger = new MemoryLedger({ now });
  return {
    another: async (limits) => (limits ? new MemoryLedger({ limits, now }) : ledger),
    lapse: async () => {
      passed += 1001;
    },
  };
});

interactionsContract('memory', async () => {
  let now = 0;
  const store = new MemoryInteractions({ now: () => now });
  return {
    another: async (limits) => (limits ? new MemoryInteractions({ limits, now: () => now }) : store),
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
    onTestFinished(() => made.end());
    return made;
  }

  ledgerContract('PostgreSQL', async () => {
    const table = `t_${random()}`;
    const admin = pool();
    await Promise.all([1, 2].map(() => new PostgresLedger(admin, { table }).createTable()));
    const lapsed = `UPDATE ${table} SET lease_until = now() - interval '1 second' WHERE id = $1`;
    return {
      another: async (limits) => new PostgresLedger(pool(), { table, limits }),
      lapse: async (id) => void (await admin.query(lapsed, [id])),
      lose: async () => void (await admin.query(`TRUNCATE ${table}`)),
    };
  });

  interactionsContract('PostgreSQL', async () => {
    const table = `t_${random()}`;
    const admin = pool();
    await Promise.all([1, 2].map(() => new PostgresInteractions(admin, { table }).createTable()));
    return {
      another: async (limits) => new PostgresInteractions(pool(), { table, limits }),
      lapse: async (id) =>
        void (await admin.query(`UPDATE ${table} SET ends_at = now() WHERE id = $1`, [id])),
    };
  });

  test('there is room for as many interactions as a sweep counts, and what is over is deleted', async () => {
    const db = pool();
    // A new instance sweeps at once, and then once a minute.
    const store = () => new PostgresInteractions(db, { table: 'few', limits: { entries: 1 } });
    await store().createTable();
    const add = (id: string) => store().add({ id, pseudonym: id, value: 'x', ttlSeconds: 60 });
    expect(await add('a')).toBe(true);
    await expect(add('b')).rejects.toMatchObject({ code: 'store_full' });
    await query(url, 'UPDATE few SET ends_at = now()');
    expect(await add('b')).toBe(true);
    expect(await query(url, 'SELECT id FROM few')).toEqual([{ id: 'b' }]);
  });

  describe.each([
    [
      'interactions',
      'ends_at',
      "(id, pseudonym, value, ends_at) VALUES ($1, $2, 'x', now() + interval '1 minute')",
      (table: string) => {
        const store = new PostgresInteractions(pool(), {
          table,
          limits: { entries: 1000, perPrincipal: 0.01 },
        });
        const add = (pseudonym: string) => store.add({ id: random(), pseudonym, value: 'x', ttlSeconds: 60 });
        return { store, add };
      },
    ],
    [
      'a ledger',
      'forget_at',
      "(id, pseudonym, answers, lease_until, forget_at) VALUES ($1, $2, '', now(), now() + interval '1 minute')",
      (table: string) => {
        const store = new PostgresLedger(pool(), { table, limits: { entries: 1000, perPrincipal: 0.01 } });
        const add = (pseudonym: string) => store.lease(leaseRequest(random(), { pseudonym }));
        return { store, add };
      },
    ],
  ])('the limit of one principal in a table of %s', (_kind, time, insert, open) => {
    /** Four instances on one table, in which new entries wait for a lock. */
    async function limited() {
      const [table, ada] = [`t_${random()}`, random()];
      const instances = Array.from({ length: 4 }, () => open(table));
      await instances[0]?.store.createTable();
      await query(
        url,
        `CREATE FUNCTION wait_${table}() RETURNS trigger LANGUAGE plpgsql AS
           'BEGIN PERFORM pg_advisory_xact_lock_shared(34); RETURN NEW; END';
         CREATE TRIGGER wait BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION wait_${table}()`,
      );
      const held = async () =>
        (await query(url, `SELECT FROM ${table} WHERE pseudonym = '${ada}' AND ${time} > now()`)).length;
      /** Each instance adds four entries at once, on connections that may break. Resolves with how many had room. */
      async function addAtOnce(isBroken = false): Promise<number> {
        const gate = await pool().connect();
        await gate.query('SELECT pg_advisory_lock(34)');
        const added = Promise.allSettled(
          instances.flatMap(({ add }) => Array.from({ length: 4 }, () => add(ada))),
        );
        const waiting = `FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM ${table} %'`;
        await vi.waitFor(async () => expect(await query(url, `SELECT ${waiting}`)).toHaveLength(16), 60_000);
        if (isBroken) await query(url, `SELECT pg_terminate_backend(pid) ${waiting}`);
        // Closes the connection, and so opens the gate.
        gate.release(true);
        const codes = (await added).map((one) => one.status === 'rejected' && one.reason.code);
        if (!isBroken) expect([...new Set(codes)].sort()).toEqual([false, 'store_full']);
        return codes.filter((code) => code === false).length;
      }
      return { table, ada, instances, addAtOnce, held };
    }

    test('is exact when four instances add at once, also when earlier entries are over', async () => {
      const { table, ada, instances, addAtOnce, held } = await limited();
      for (let round = 1; round <= 2; round++) {
        expect([await addAtOnce(), await held()]).toEqual([10, 10]);
        for (const { add } of instances) {
          await expect(add(ada)).rejects.toMatchObject({ code: 'store_full' });
          await add(random());
        }
        await query(url, `UPDATE ${table} SET ${time} = now() WHERE pseudonym = '${ada}'`);
      }
    });

    test('counts the entries of an instance of an earlier version', async () => {
      const { table, ada, addAtOnce, held } = await limited();
      const earlier = pool();
      for (let n = 0; n < 7; n++) await earlier.query(`INSERT INTO ${table} ${insert}`, [random(), ada]);
      expect([await addAtOnce(), await held()]).toEqual([3, 10]);
    });

    test('is exact after the connections broke on which entries were added', async () => {
      const { addAtOnce, held } = await limited();
      expect([await addAtOnce(true), await held()]).toEqual([0, 0]);
      expect([await addAtOnce(), await held()]).toEqual([10, 10]);
    });

    test('is exact when a sweep has deleted the counters', async () => {
      const { table, ada, instances, addAtOnce, held } = await limited();
      for (const { add } of instances) await add(ada);
      await query(url, `UPDATE ${table}_principals SET forget_at = now()`);
      await open(table).add(random());
      expect(await query(url, `SELECT FROM ${table}_principals`)).toHaveLength(1);
      expect([await addAtOnce(), await held()]).toEqual([6, 10]);
    });
  });

  test('a ledger works again after its connections were cut', async () => {
    const ledger = new PostgresLedger(pool());
    await ledger.createTable();
    expect(await ledger.lease(leaseRequest('a'))).toEqual(FIRST);
    await cut(url);
    expect(await retried(() => ledger.lease(leaseRequest('a')))).toEqual({ kind: 'in-flight' });
  });

  test('a ledger accepts no more tokens than its limit, counted at each sweep', async () => {
    const db = pool();
    const ledger = () => new PostgresLedger(db, { table: 'small', limits: { entries: 2 } });
    await ledger().createTable();
    for (const id of ['a', 'b']) expect(await ledger().lease(leaseRequest(id))).toEqual(FIRST);
    await expect(ledger().lease(leaseRequest('c'))).rejects.toMatchObject({ code: 'store_full' });
  });

  test('a ledger keeps no more bytes of results than it may, and has room again when they are forgotten', async () => {
    const db = pool();
    const ledger = () => new PostgresLedger(db, { table: 'heavy', limits: { bytes: 1000 } });
    await ledger().createTable();
    expect(await recorded(ledger(), [600, 401, 400])).toEqual(['settled', 'lost', 'settled']);
    await query(url, "UPDATE heavy SET forget_at = now() - interval '1 second' WHERE lease IS NOT NULL");
    expect(await recorded(ledger(), [1000])).toEqual(['settled']);
  });

  test('instances that begin at once write one beginning, and later ones keep it', async () => {
    await new PostgresLedger(pool(), { table: 'begun' }).createTable();
    await query(url, 'TRUNCATE begun');
    const ledgers = Array.from({ length: 8 }, () => new PostgresLedger(pool(), { table: 'begun' }));
    const begins = ledgers.slice(1).map((ledger) => ledger.createTable());
    await Promise.all([...begins, ...ledgers.slice(1).map((ledger) => ledger.lease(leaseRequest(random())))]);
    const before = await query(url, "SELECT * FROM begun WHERE id = '(beginning)'");
    expect(before).toHaveLength(1);
    await ledgers[0]?.createTable();
    expect(await query(url, "SELECT * FROM begun WHERE id = '(beginning)'")).toEqual(before);
  });

  test('a lease that waits for a DELETE of the whole table does not serve a used token', async () => {
    const ledger = new PostgresLedger(pool(), { table: 'deleted' });
    await ledger.createTable();
    const token = leaseRequest('a');
    await ledger.settle('a', await takeLease(ledger, token), 'done');
    const admin = await pool().connect();
    onTestFinished(() => admin.release());
    await admin.query('BEGIN; DELETE FROM deleted');
    const decision = ledger.lease(token);
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM deleted %'`;
    await vi.waitFor(async () => expect(await query(url, waiting)).toHaveLength(1), { timeout: 60_000 });
    await admin.query('COMMIT');
    expect(await decision).toEqual({ kind: 'older-than-ledger' });
  });

  test('a lease whose reply is lost is given back', async () => {
    const db = pool();
    const reply = loseOnce((text: string) => text.includes('"isFirst"'));
    const query: Queryable['query'] = async (text, values) => reply(text, await db.query(text, values));
    const ledger = new PostgresLedger({ query }, { table: 'unheard' });
    await ledger.createTable();
    await expectGivenBack(ledger);
  });
});

const redis = await redisOfThisFile();

describe.skipIf(redis === undefined)('on Redis', () => {
  afterAll(() => redis?.stop());

  const connected = () => connectedTo(redis as Redis);
  const alone = async () => ({ client: await connected(), prefix: `test:${random()}:` });

  ledgerContract('Redis', async () => {
    const { client: admin, prefix } = await alone();
    return {
      another: async (limits) => begun(await connected(), { prefix, limits }),
      lapse: async (id) => void (await admin.hSet(`${prefix}entry:${id}`, 'lease', '0')),
      lose: async () => {
        for (const key of await admin.keys(`${prefix}*`)) await admin.del(key);
      },
    };
  });

  interactionsContract('Redis', async () => {
    const { client: admin, prefix } = await alone();
    return {
      another: async (limits) => new RedisInteractions(await connected(), { prefix, limits }),
      // A test cannot set Redis's clock, so delete the interaction, and let its place in the indices expire.
      lapse: async (id) => {
        await admin.del(`${prefix}entry:${id}`);
        for (const key of await admin.keys(`${prefix}index*`))
          await admin.zAdd(key, { score: 1, value: id }, { condition: 'XX' });
      },
    };
  });

  test('Redis has room for as many interactions as it may hold, and forgets them by itself', async () => {
    const { client, prefix } = await alone();
    const store = new RedisInteractions(client, { prefix, limits: { entries: 1 } });
    const begun = { id: 'a', pseudonym: 'ada', value: 'x', ttlSeconds: 60 };
    await store.add(begun);
    await expect(store.add({ ...begun, id: 'b', pseudonym: 'bob' })).rejects.toMatchObject({
      code: 'store_full',
    });
    await store.replace({ ...begun, value: 'y' }, 'x', false);
    for (const key of ['entry:a', 'index', 'index:ada']) {
      const left = await client.pTTL(prefix + key);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(60_000);
    }
  });

  test('a ledger lets Redis forget a token a minute after it expires, and not before', async () => {
    const { client, prefix } = await alone();
    const expiresAt = Date.now() + 60_000;
    await (await begun(client, { prefix })).lease(leaseRequest('a', { expiresAt }));
    expect(await client.pExpireTime(`${prefix}entry:a`)).toBe(expiresAt + 60_000);
  });

  test('a ledger keeps no more bytes of results than it may, and has room again when they are forgotten', async () => {
    const { client, prefix } = await alone();
    const ledger = await begun(client, { prefix, limits: { bytes: 1000, perPrincipal: 1 } });
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
    const { client, prefix } = await alone();
    const ledger = await begun(client, { prefix });
    for (let day = 1; day <= 190; day++) {
      const id = random();
      await ledger.settle(
        id,
        await takeLease(ledger, leaseRequest(id, { expiresAt: Date.now() + day * 86_400_000 })),
        'x',
      );
    }
    const sizes = Object.values(await client.hGetAll(`${prefix}bytes`));
    expect(sizes.reduce((sum, size) => sum + Number(size), 0)).toBe(190);
    expect(sizes.length).toBeLessThan(50);
  });

  test('a lease whose reply is lost is given back', async () => {
    const client = await connected();
    const reply = loseOnce((script) => script.includes("'in-flight'"));
    const lossy: RedisClient = {
      eval: async (script, options) => reply(script, await client.eval(script, options)),
    };
    await expectGivenBack(await begun(lossy, { prefix: `test:${random()}:` }));
  });

  test('a released token leaves nothing in Redis but the beginning', async () => {
    const { client, prefix } = await alone();
    const ledger = await begun(client, { prefix });
    await ledger.release('a', await takeLease(ledger, leaseRequest('a', { pseudonym: 'ada' })));
    expect(await client.keys(`${prefix}*`)).toEqual([`${prefix}beginning`]);
    expect(await client.pTTL(`${prefix}beginning`)).toBe(-1);
  });

  test('instances that begin at once write one beginning, and later ones keep it', async () => {
    const { client, prefix } = await alone();
    const clients = await Promise.all(Array.from({ length: 8 }, connected));
    await Promise.all(clients.map((one) => begun(one, { prefix })));
    const before = await client.hGet(`${prefix}beginning`, 'at');
    expect(Number(before)).toBeLessThanOrEqual(Date.now());
    await begun(client, { prefix });
    expect(await client.hGet(`${prefix}beginning`, 'at')).toBe(before);
  });

  test('a ledger that may not ask for INFO and CONFIG works, and keeps its beginning', async () => {
    const [admin, user, prefix] = [await connected(), `test-${random()}`, `test:${random()}:`];
    await admin.sendCommand(['ACL', 'SETUSER', user, 'on', 'nopass', '~*', '+@all', '-info', '-config']);
    onTestFinished(() => admin.sendCommand(['ACL', 'DELUSER', user]));
    const client = await connected();
    await client.sendCommand(['AUTH', user, 'none']);
    const ledger = await begun(client, { prefix });
    const before = await admin.hGetAll(`${prefix}beginning`);
    expect(before).toMatchObject({ run: '' });
    expect(await ledger.lease(leaseRequest('a'))).toEqual(FIRST);
    await begun(client, { prefix });
    expect(await admin.hGetAll(`${prefix}beginning`)).toEqual(before);
    // An instance that may read INFO has written this beginning. Another instance keeps it.
    const others = `test:${random()}:`;
    await begun(admin, { prefix: others });
    const theirs = await admin.hGetAll(`${others}beginning`);
    expect(theirs.run).toMatch(/^[0-9a-f]{40}$/);
    await begun(client, { prefix: others });
    expect(await admin.hGetAll(`${others}beginning`)).toEqual(theirs);
  });

  test('a ledger that is made before its client is connected warns, and begins when it is asked to', async () => {
    const warnings = heardWarnings();
    const client = createClient(redis?.options).on('error', () => {});
    const ledger = new RedisLedger(client, { prefix: `test:${random()}:` });
    await expect(ledger.lease(leaseRequest('a'))).rejects.toThrow('closed');
    await expect(ledger.begin()).rejects.toThrow('closed');
    await client.connect();
    onTestFinished(() => client.close());
    // The ledger knows nothing of the time before the first lease, so it rejects even a token of a clock that is ahead.
    const ahead = leaseRequest('a', { issuedAt: Date.now() + 30_000 });
    expect(await ledger.lease(ahead)).toEqual({ kind: 'older-than-ledger' });
    await ledger.begin();
    expect(await ledger.lease(leaseRequest('a'))).toEqual(FIRST);
    expect(warnings('MRTR_REDIS_NOT_REACHED')).toEqual([
      expect.stringContaining('Connect the client before'),
    ]);
  });
});

const noDatabase = { query: async () => ({ rows: [] }) };
const noRedis = { eval: async () => '' };

const ON_REDIS = { client: noRedis, needs: 'client must be an object with eval()' };
const ON_POSTGRES = { client: noDatabase, needs: 'db must be an object with query()' };
const STORES = {
  RedisLedger: { Store: RedisLedger, ...ON_REDIS },
  PostgresLedger: { Store: PostgresLedger, ...ON_POSTGRES },
  RedisInteractions: { Store: RedisInteractions, ...ON_REDIS },
  PostgresInteractions: { Store: PostgresInteractions, ...ON_POSTGRES },
};
type StoreName = keyof typeof STORES;
const needsNoQuotes = 'table must be an identifier that needs no quotes (a-z, 0-9, _); it is ';

test.each<[StoreName, object, string]>([
  ['RedisLedger', { prefx: 'a' }, "there is no option 'prefx'. Did you mean 'prefix'?"],
  ['RedisLedger', { prefix: '' }, 'prefix must be'],
  ['RedisLedger', { maxBytes: 1 }, "the option 'maxBytes' is gone. Write `limits: { bytes }`."],
  ['PostgresLedger', { tabel: 'a' }, "there is no option 'tabel'. Did you mean 'table'?"],
  ['PostgresLedger', { table: ['a'] }, 'table must be'],
  ['PostgresLedger', { table: 'a;DROP b' }, `${needsNoQuotes}'a;DROP b'.`],
  ['PostgresLedger', { table: 'postgres://user:secret@db.example' }, `${needsNoQuotes}a text.`],
  ['PostgresLedger', { sweepSeconds: 5 }, "the option 'sweepSeconds' is gone. It is fixed: 60 seconds."],
  ['RedisInteractions', { ttl: 1 }, "there is no option 'ttl'. The options are: prefix, limits."],
  ['RedisInteractions', { maxValueBytes: 5 }, "the option 'maxValueBytes' is gone. It is fixed: 8192 bytes."],
  ['PostgresInteractions', { prefix: 'a' }, "there is no option 'prefix'. The options are: table, limits."],
])('%s rejects %o', (name, options, message) => {
  const { Store, client } = STORES[name];
  const make = () => new Store(client as never, options);
  expect(make).toThrow(InvalidOption);
  expect(make).toThrow(`${name}: ${message}`);
});

test.each<[StoreName, object, string]>([
  ['RedisLedger', { bytes: '1' }, 'bytes must be a whole number of at least 1'],
  ['PostgresLedger', { entries: 0 }, 'entries must be a whole number of at least 1'],
  ['RedisInteractions', { bytes: 1 }, "there is no option 'bytes'. The options are: entries, perPrincipal."],
  ['PostgresInteractions', { perPrincipal: Number.NaN }, 'perPrincipal must be a number above 0'],
])('%s rejects the limits %o', (name, limits, message) => {
  const { Store, client } = STORES[name];
  const make = () => new Store(client as never, { limits } as object);
  expect(make).toThrow(InvalidOption);
  expect(make).toThrow(`${name} limits: ${message}`);
});

test.each(Object.entries(STORES))(
  '%s rejects a URL in the place of its client, and does not repeat it',
  (name, { needs, Store }) => {
    const make = (client: unknown) => new Store(client as never);
    const complaint = (kind: string) => new InvalidOption(`${name}: ${needs}; it is ${kind}.`);
    expect(() => make('redis://user:secret@redis.example')).toThrow(complaint('a text'));
    expect(() => make(null)).toThrow(complaint('null'));
    expect(() => make({})).toThrow(complaint('an object'));
  },
);
