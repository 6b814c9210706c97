/**
 * A rolling deploy: instances of an earlier version and of this one share tables and keys. Each reads what the other wrote,
 * and a token that both get at once has one effect.
 */
import { interactionsContract, ledgerContract } from '@mrtr/ledgers/contract';
import { PostgresInteractions, PostgresLedger } from '@mrtr/ledgers/postgres';
import { RedisInteractions } from '@mrtr/ledgers/redis';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaseRequest } from '../../packages/ledgers/src/contract-requests.ts';
import { type Redis, redisOfThisFile } from '../testkit/redis.ts';
import {
  earlierPostgresInteractions,
  earlierPostgresLedger,
  earlierRedisInteractions,
  earlierRedisLedger,
} from './earlier-stores.test-support.ts';
import { begun, connectedTo, random } from './ledgers.test-support.ts';

/** Makes an instance of this version first, and then of each version in turn. The earlier version has its own limits. */
function inTurn<Limits, Store>(
  ours: (limits?: Limits) => Promise<Store>,
  earlier: () => Promise<Store>,
): (limits?: Limits) => Promise<Store> {
  let made = 0;
  return (limits) => (limits === undefined && made++ % 2 === 1 ? earlier() : ours(limits));
}

const { database, missing } = await postgresOfTheRun();

describe.skipIf(missing !== undefined)('on PostgreSQL', () => {
  let pool: Pool;
  beforeAll(async () => {
    pool = new Pool({ connectionString: await database(), max: 8 }).on('error', () => {});
  });
  afterAll(() => pool.end());

  describe.each(['an earlier version', 'this version'])('in tables that %s made', (maker) => {
    const isOurs = maker === 'this version';

    ledgerContract('PostgreSQL, beside an earlier version', async () => {
      const table = `t_${random()}`;
      const earlier = () => earlierPostgresLedger(pool, table);
      if (isOurs) await new PostgresLedger(pool, { table }).createTable();
      else await earlier();
      return {
        another: inTurn(async (limits) => new PostgresLedger(pool, { table, limits }), earlier),
        lapse: async (id) =>
          void (await pool.query(`UPDATE ${table} SET lease_until = now() - interval '1 s' WHERE id = $1`, [
            id,
          ])),
        lose: async () => void (await pool.query(`TRUNCATE ${table}`)),
      };
    });

    interactionsContract('PostgreSQL, beside an earlier version', async () => {
      const table = `t_${random()}`;
      const earlier = () => earlierPostgresInteractions(pool, table);
      if (isOurs) await new PostgresInteractions(pool, { table }).createTable();
      else await earlier();
      return {
        another: inTurn(async (limits) => new PostgresInteractions(pool, { table, limits }), earlier),
        lapse: async (id) =>
          void (await pool.query(`UPDATE ${table} SET ends_at = now() WHERE id = $1`, [id])),
      };
    });
  });

  test('a sweep deletes expired rows of an earlier version, and no others', async () => {
    const [tokens, pages] = [`t_${random()}`, `t_${random()}`];
    const ledger = await earlierPostgresLedger(pool, tokens);
    const store = await earlierPostgresInteractions(pool, pages);
    for (const id of ['kept', 'over']) {
      await ledger.lease(leaseRequest(id, { pseudonym: 'ada' }));
      await store.add({ id, pseudonym: 'ada', value: 'x', ttlSeconds: 60 });
    }
    await pool.query(`UPDATE ${tokens} SET forget_at = now() - interval '1 s' WHERE id = 'over'`);
    await pool.query(`UPDATE ${pages} SET ends_at = now() WHERE id = 'over'`);
    await new PostgresLedger(pool, { table: tokens }).lease(leaseRequest('new'));
    await new PostgresInteractions(pool, { table: pages }).add({
      ...{ id: 'new', pseudonym: 'ada', value: 'x', ttlSeconds: 60 },
    });
    const idsOf = async (table: string) =>
      (await pool.query(`SELECT id FROM ${table} ORDER BY id`)).rows.map(({ id }) => id);
    expect(await idsOf(tokens)).toEqual(['(beginning)', 'kept', 'new']);
    expect(await idsOf(pages)).toEqual(['kept', 'new']);
  });
});

const redis = await redisOfThisFile();

describe.skipIf(redis === undefined)('on Redis', () => {
  afterAll(() => redis?.stop());
  const connected = () => connectedTo(redis as Redis);

  ledgerContract('Redis, beside an earlier version', async () => {
    const [client, prefix] = [await connected(), `test:${random()}:`];
    return {
      another: inTurn(
        (limits) => begun(client, { prefix, limits }),
        () => earlierRedisLedger(client, prefix),
      ),
      lapse: async (id) => void (await client.hSet(`${prefix}entry:${id}`, 'lease', '0')),
      lose: async () => {
        for (const key of await client.keys(`${prefix}*`)) await client.del(key);
      },
    };
  });

  interactionsContract('Redis, beside an earlier version', async () => {
    const [client, prefix] = [await connected(), `test:${random()}:`];
    return {
      another: inTurn(
        async (limits) => new RedisInteractions(client, { prefix, limits }),
        async () => earlierRedisInteractions(client, prefix),
      ),
      lapse: async (id) => {
        await client.del(`${prefix}entry:${id}`);
        for (const key of await client.keys(`${prefix}index*`))
          await client.zAdd(key, { score: 1, value: id }, { condition: 'XX' });
      },
    };
  });

  test('entries of both versions have the same keys, and the same times to live', async () => {
    const client = await connected();
    const [ours, theirs] = [`test:${random()}:`, `test:${random()}:`];
    const page = { id: 'a', pseudonym: 'ada', value: 'x', ttlSeconds: 60 };
    const shapeOf = async (prefix: string) => {
      const keys = (await client.keys(`${prefix}*`)).sort();
      const shapes = keys.map(async (key) => {
        const type = await client.type(key);
        const fields =
          type === 'hash' && !key.endsWith('bytes') ? Object.keys(await client.hGetAll(key)).sort() : [];
        return [key.slice(prefix.length), type, fields, Math.round((await client.pTTL(key)) / 10_000)];
      });
      return Promise.all(shapes);
    };
    const ledgers = [await begun(client, { prefix: ours }), await earlierRedisLedger(client, theirs)];
    const token = leaseRequest('a', { pseudonym: 'ada' });
    for (const ledger of ledgers) {
      const decision = await ledger.lease(token);
      if (decision.kind === 'first') await ledger.settle('a', decision.lease, 'done');
    }
    expect(await shapeOf(ours)).toEqual(await shapeOf(theirs));
    expect(await shapeOf(ours)).toHaveLength(6);
    const [mine, earlier] = [`test:${random()}:`, `test:${random()}:`];
    for (const store of [
      new RedisInteractions(client, { prefix: mine }),
      earlierRedisInteractions(client, earlier),
    ]) {
      await store.add(page);
      await store.add({ ...page, id: 'b' });
      await store.replace({ ...page, value: 'y', ttlSeconds: 600 }, 'x', true);
    }
    expect(await shapeOf(mine)).toEqual(await shapeOf(earlier));
    expect(await shapeOf(mine)).toHaveLength(5);
  });
});
