/** What one instance holds for its clients, where that ends, and what a call takes in the stores that instances share. */
import type { ChildProcess } from 'node:child_process';
import type { StateLedger } from '@mrtr/core/seal';
import { requestInit } from '@mrtr/harness';
import { PostgresInteractions, PostgresLedger, type Queryable } from '@mrtr/ledgers/postgres';
import { RedisInteractions, RedisLedger } from '@mrtr/ledgers/redis';
import type { InteractionStore } from '@mrtr/pages/store';
import { type PostgresServer, postgresServer, query } from '@mrtr/postgres-server';
import { createClient } from 'redis';
import type { Benchmark, Effort, Figure } from './benchmark.ts';
import { ask, start } from './child/program.ts';
import { exchangeWith } from './durable.ts';
import { opening, round, workItem } from './subject/call.ts';
import { DATABASE, ON_POSTGRES } from './subject/database.ts';

/** How many are held while they are measured. A hosting holds 1000 sessions and 1024 subscriptions. */
const COUNTS: Readonly<Record<Effort['kind'], number>> = { quick: 20, full: 900 };
/** A result with one sentence, sealed. */
const RESULT = 'x'.repeat(400);

type Open = (port: number) => Promise<Response>;

const at = (port: number) => `http://127.0.0.1:${port}/mcp`;

const beginSession: Open = async (port) => {
  const clientInfo = { name: 'bench', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo };
  const response = await fetch(at(port), requestInit('initialize', params, { legacy: true }));
  // Read to its end, so that its connection is free; the text may still be read.
  await response.clone().text();
  return response;
};

const beginSessionWithStream: Open = async (port) => {
  const begun = await beginSession(port);
  const session = begun.headers.get('mcp-session-id') ?? '';
  const headers = { accept: 'text/event-stream', 'mcp-session-id': session };
  return begun.ok ? fetch(at(port), { headers }) : begun;
};

const subscribe: Open = (port) =>
  fetch(at(port), requestInit('subscriptions/listen', { notifications: { toolsListChanged: true } }));

/** The heap of each that is held, and the answer to the first that is refused. */
async function held(what: string, open: Open, count: number, mayFill: boolean) {
  const child = start('http-server', ['g'], ['--expose-gc']);
  const kept: Response[] = [];
  try {
    const port = await ask<number>(child, 'port');
    const openMany = async (many: number) => {
      for (let at = 0; at < many; at++) kept.push(await open(port));
    };
    await openMany(20);
    const before = await ask<number>(child, 'heap');
    await openMany(count);
    const heapEach = ((await ask<number>(child, 'heap')) - before) / count;
    const refused = kept.find(({ ok }) => !ok);
    if (refused) throw new Error(`${what}: ${refused.status} ${await refused.text()}`);
    while (mayFill && kept.at(-1)?.ok) await openMany(1);
    const last = kept.at(-1) as Response;
    const end = mayFill
      ? [`${what}: ${kept.length - 1} are held; the next gets ${last.status} ${await last.text()}`]
      : [];
    return { figure: { what: `${what}, heap each`, unit: 'B', value: heapEach } as Figure, end };
  } finally {
    child.kill();
  }
}

/** Bytes in a store after `count` entries, for each. */
async function stored(
  what: string,
  count: number,
  size: () => Promise<number>,
  add: (id: string) => Promise<unknown>,
) {
  for (let at = 0; at < 20; at++) await add(`before ${at}`);
  const before = await size();
  for (let at = 0; at < count; at++) await add(`${crypto.randomUUID()} ${at}`);
  return { what, unit: 'B', value: ((await size()) - before) / count } as Figure;
}

const serveIn = (ledger: StateLedger) => async (id: string) => {
  const now = Date.now();
  const decision = await ledger.lease({
    id,
    answers: 'a'.repeat(43),
    issuedAt: now,
    expiresAt: now + 600_000,
    leaseSeconds: 300,
    principal: id,
    now,
  });
  if (decision.kind !== 'first') throw new Error(`The ledger said ${decision.kind}.`);
  await ledger.settle(id, decision.lease, RESULT);
};
const addTo = (pages: InteractionStore) => (id: string) =>
  pages.add({ id, principal: id, value: RESULT, ttlSeconds: 600 });

async function onRedis(count: number): Promise<Figure[]> {
  const url = process.env.MRTR_TEST_REDIS;
  if (!url) return [];
  const redis = createClient({ url });
  await redis.connect();
  const size = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  const ledger = new RedisLedger(redis, { prefix: `bench:${crypto.randomUUID()}:` });
  await ledger.begin();
  try {
    return [
      await stored('Redis, a token that was served', count, size, serveIn(ledger)),
      await stored('Redis, a pending page', count, size, addTo(new RedisInteractions(redis))),
    ];
  } finally {
    await redis.close();
  }
}

async function onPostgres(server: PostgresServer, count: number): Promise<Figure[]> {
  const url = await server.database();
  const db: Queryable = {
    query: async (text, values) => ({ rows: await query(url, text, values as unknown[]) }),
  };
  const size = async () =>
    Number(
      (
        await query<{ bytes: string }>(
          url,
          `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c
      JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND nspname !~ '^(pg_|information_schema)'`,
        )
      )[0]?.bytes,
    );
  const [ledger, pages] = [new PostgresLedger(db), new PostgresInteractions(db)];
  await ledger.createTable();
  await pages.createTable();
  const child: ChildProcess = start('durable-instance', [ON_POSTGRES], [], { [DATABASE]: url });
  await ask(child, 'ready');
  try {
    return [
      await stored('PostgreSQL, a token that was served', count, size, serveIn(ledger)),
      await stored('PostgreSQL, a pending page', count, size, addTo(pages)),
      await stored('PostgreSQL, an open call of H', count, size, () =>
        round(exchangeWith(child), workItem, opening(workItem)),
      ),
    ];
  } finally {
    child.kill();
  }
}

export const capacity: Benchmark = {
  name: 'capacity',
  title: 'What one instance holds, and what a call takes in the stores',
  async run({ kind }) {
    const count = COUNTS[kind];
    const mayFill = kind === 'full';
    const kinds = [
      await held('Sessions of old clients', beginSession, count, mayFill),
      await held('Sessions with a standing stream', beginSessionWithStream, count, mayFill),
      await held('Subscriptions of new clients', subscribe, count, mayFill),
    ];
    const server = await postgresServer(process.env.MRTR_BENCH_POSTGRES);
    try {
      const stores = [...(await onRedis(count)), ...(await onPostgres(server, count))];
      const notes = [
        '`.ci/with-servers pnpm bench --only capacity` measures Redis too.',
        ...kinds.flatMap(({ end }) => end),
      ];
      return { figures: [...kinds.map(({ figure }) => figure), ...stores], notes };
    } finally {
      await server.stop();
    }
  },
};
