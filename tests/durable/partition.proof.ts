/** Live instances that lose their database session. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import { cut } from '../../packages/linear-dbos/src/database.test-support.ts';
import { Call, RESULT, WHERE_TO } from './call.test-support.ts';
import { Deployment } from './deployment.test-support.ts';
import { Shop } from './shop.test-support.ts';

const { database, test } = await postgresOfTheRun();
const shop = new Shop();
let deployment: Deployment;
beforeAll(async () => {
  deployment = new Deployment(await database(), shop);
});
afterAll(() => deployment.end());

/** A proxy to the database. It can cut connections so that only the database notices, and restore them. */
async function wayTo(postgres: string) {
  const { hostname, port } = new URL(postgres);
  const open = new Set<[client: Socket, upstream: Socket]>();
  const stranded = new Set<Socket>();
  let isCut = false;
  const listener = createServer((client) => {
    client.on('error', () => {});
    if (isCut) return void stranded.add(client);
    const upstream = connect(Number(port), hostname).on('error', () => {});
    const both: [Socket, Socket] = [client, upstream];
    open.add(both);
    client.pipe(upstream);
    upstream.on('data', (data) => client.write(data));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => {
      open.delete(both);
      if (isCut) stranded.add(client);
      else client.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => void listener.close());
  const host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    url: Object.assign(new URL(postgres), { host }).href,
    cut: () => {
      isCut = true;
      for (const [client, upstream] of open) {
        client.unpipe(upstream);
        upstream.destroy();
      }
    },
    mend: () => {
      isCut = false;
      for (const client of stranded) client.destroy();
    },
  };
}

test('a call of an owner that a partition cuts off continues elsewhere after takeOverSeconds, and no longer there', async () => {
  const way = await wayTo(deployment.postgres);
  const owner = await deployment.start({ postgres: way.url, takeOverSeconds: 2 });
  const other = await deployment.start({ takeOverSeconds: 2 });
  const call = new Call(shop);
  const first = await call.first(owner);
  const charging = call.order.hold('charge');
  const answered = call.count(owner, first);
  await charging;
  const began = performance.now();
  way.cut();
  const second = await call.eventually(() => call.count(other, first));
  expect(performance.now() - began).toBeGreaterThan(2000);
  expect(second.asks).toEqual(WHERE_TO);
  // The interrupted effect is repeated, under the same key.
  expect([call.order.attempts, call.order.done]).toEqual([
    ['reserve', 'charge', 'charge'],
    call.whole.slice(0, 2),
  ]);
  call.order.release();
  expect((await answered).fails).toBe(
    'The calls of this server cannot be reached now. Send the same answer again later, or start the call again.',
  );
  expect(await call.address(other, second)).toEqual(RESULT);
  expect(call.order.attempts).toEqual(['reserve', 'charge', 'charge', 'ship']);
});

test('a call that its instance abandoned continues on another, even after the instance reconnects', async () => {
  const way = await wayTo(deployment.postgres);
  const owner = await deployment.start({ postgres: way.url, takeOverSeconds: 2 });
  const other = await deployment.start({ takeOverSeconds: 2 });
  const call = new Call(shop);
  const first = await call.first(owner);
  const charging = call.order.hold('charge');
  const answered = call.count(owner, first);
  await charging;
  way.cut();
  expect((await answered).fails).toContain('cannot be reached now');
  way.mend();
  const alive =
    'SELECT NOT pg_try_advisory_xact_lock_shared(instance) AS alive FROM mrtr_linear.mrtr_calls WHERE NOT done';
  await vi.waitFor(
    async () => expect(await query(deployment.postgres, alive)).toEqual([{ alive: true }]),
    60_000,
  );
  call.order.release();
  const second = await call.eventually(() => call.count(other, first));
  expect(await call.address(other, second)).toEqual(RESULT);
});

test('an instance whose queue another one deleted takes a call over', async () => {
  const [owner, other] = [await deployment.start(), await deployment.start()];
  const call = new Call(shop);
  const first = await call.first(owner);
  await owner.kill();
  const scans = async () => {
    const counted = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'queues'";
    return Number((await query<{ seq_scan: string }>(deployment.postgres, counted))[0]?.seq_scan);
  };
  await query(deployment.postgres, 'DELETE FROM mrtr_linear.queues');
  // DBOS checks its queues once a second, and stops serving a queue that it does not find.
  const before = await scans();
  await vi.waitFor(async () => expect(await scans()).toBeGreaterThan(before + 1), 60_000);
  const second = await call.eventually(() => call.count(other, first));
  expect(await call.address(other, second)).toEqual(RESULT);
});

test('a process that stood still while another took its call over starts no further step', async () => {
  const [owner, other] = [
    await deployment.start({ takeOverSeconds: 2 }),
    await deployment.start({ takeOverSeconds: 2 }),
  ];
  const call = new Call(shop, { name: 'pondering' });
  const first = await call.first(owner);
  const pondering = call.order.hold('ponder');
  void call.count(owner, first);
  await pondering;
  owner.stop();
  // A server ends a session that does not answer at some time. End it now.
  await cut(deployment.postgres);
  const second = await call.eventually(() => call.count(other, first));
  expect(await call.address(other, second)).toMatchObject({ says: expect.stringContaining('ship') });
  owner.continue();
  call.order.release();
  await vi.waitFor(() => expect(owner.errors.join()).toContain('was lost'), 60_000);
  expect(call.order.attempts).toEqual(['reserve', 'charge', 'ponder', 'ponder', 'ship']);
});
