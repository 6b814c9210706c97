/** Ledgers whose database crashes, or is replaced by a copy that lacks entries. */
import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import type { LeaseRequest } from '@mrtr/core/seal';
import { freePort } from '@mrtr/harness/process';
import { PostgresLedger } from '@mrtr/ledgers/postgres';
import { RedisInteractions } from '@mrtr/ledgers/redis';
import { ownServer, query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FIRST, leaseRequest, takeLease } from '../../packages/ledgers/src/contract-requests.ts';
import { hasRedisServer, ownRedis, type Redis } from '../testkit/redis.ts';
import { begun, connectedTo, heardWarnings, retried } from './ledgers.test-support.ts';

const { test: onPostgres } = await postgresOfTheRun();

onPostgres(
  'a crash keeps every entry; a standby that lacks some serves them again, unless the beginning is deleted',
  async () => {
    const server = await ownServer({ programs: process.env.MRTR_TEST_POSTGRES_PROGRAMS });
    onTestFinished(() => server.stop());
    const ledgerNow = () =>
      new PostgresLedger({
        query: async (text, values) => ({ rows: await query(server.url, text, values as unknown[]) }),
      });
    const ledger = ledgerNow();
    await ledger.createTable();
    const serve = async (id: string) => {
      const token = leaseRequest(id);
      await ledger.settle(id, await takeLease(ledger, token), 'done');
      return token;
    };
    const [{ data_directory: data = '' } = {}] = await query<{ data_directory: string }>(
      server.url,
      'SHOW data_directory',
    );
    const kept = await serve('kept');
    await server.restart(() => void execFileSync('cp', ['-a', data, `${data}.standby`]));
    expect(await ledgerNow().lease(kept)).toMatchObject({ kind: 'settled' });
    const lost = [await serve('a'), await serve('b')] as const;
    // A standby that lost its primary has the primary's files as of that moment.
    await server.restart(() => {
      renameSync(data, `${data}.primary`);
      renameSync(`${data}.standby`, data);
    });
    expect(await ledgerNow().lease(kept)).toMatchObject({ kind: 'settled' });
    expect(await ledgerNow().lease(lost[0])).toEqual(FIRST);
    await query(server.url, "DELETE FROM mrtr_ledger WHERE id = '(beginning)'");
    expect(await ledgerNow().lease(lost[1])).toEqual({ kind: 'older-than-ledger' });
  },
);

describe.skipIf(!hasRedisServer())('on a Redis that crashes', () => {
  const SNAPSHOTS = ['--save', '3600 1', '--appendonly', 'no'];
  const DURABLE = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];

  async function started(settings: readonly string[]) {
    const server = await ownRedis(settings);
    onTestFinished(() => server.stop());
    return server;
  }

  /** Simulates a new process of a server: a new client and a new ledger. */
  const newProcess = async (server: Redis, durable = true) => begun(await connectedTo(server), { durable });

  test('a token that the last snapshot lacks is not usable again', async () => {
    const server = await started(SNAPSHOTS);
    const ledger = await newProcess(server);
    await (await connectedTo(server)).sendCommand(['SAVE']);
    const token = leaseRequest('a');
    await ledger.settle('a', await takeLease(ledger, token), 'done');
    await server.crash();
    expect(await (await newProcess(server)).lease(token)).toEqual({ kind: 'older-than-ledger' });
    expect(await retried(() => ledger.lease(token))).toEqual({ kind: 'older-than-ledger' });
    // A server whose clock is ahead may have issued this one before the crash.
    const ahead = leaseRequest('b', { issuedAt: Date.now() + 50_000 });
    expect(await ledger.lease(ahead)).toEqual({ kind: 'older-than-ledger' });
  });

  test('where each entry is on disk, `durable` rejects no open call, crash after crash', async () => {
    const server = await started(DURABLE);
    const ledger = await newProcess(server);
    const [used, ...open] = ['a', 'b', 'c'].map((id) => leaseRequest(id)) as [
      LeaseRequest,
      ...LeaseRequest[],
    ];
    await ledger.settle('a', await takeLease(ledger, used), 'done');
    for (const [crash, token] of open.entries()) {
      await server.crash();
      const later = crash === 0 ? ledger : await newProcess(server);
      expect(await retried(() => later.lease(used))).toMatchObject({ kind: 'settled', result: 'done' });
      expect(await later.lease(token)).toEqual(FIRST);
    }
  });

  test.each([
    ['that is not called durable', false, DURABLE],
    ['that is called durable, and is not', true, SNAPSHOTS],
  ])('after a restart of a Redis %s, open calls are rejected', async (_, durable, settings) => {
    heardWarnings();
    const server = await started(settings);
    const ledger = await newProcess(server, durable);
    const open = leaseRequest('a');
    await server.crash();
    expect(await retried(() => ledger.lease(open))).toEqual({ kind: 'older-than-ledger' });
  });

  /** Waits until Redis has rewritten its append-only file. */
  const waitForFile = (admin: Awaited<ReturnType<typeof connectedTo>>) =>
    vi.waitFor(
      async () =>
        expect(await admin.info('persistence')).toMatch(
          /aof_enabled:1\s+aof_rewrite_in_progress:0\s+aof_rewrite_scheduled:0/,
        ),
      { timeout: 60_000 },
    );

  /** Makes the second a replica of the first, and waits until it has the ledger's beginning on disk. */
  async function attach(primary: Redis, replica: Redis): Promise<void> {
    // Both listen on sockets in the file system, which Redis cannot replicate over.
    const ports = await connectedTo(primary);
    await ports.configSet('bind', '127.0.0.1');
    const port = await freePort();
    await ports.configSet('port', String(port));
    const admin = await connectedTo(replica);
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', String(port)]);
    await vi.waitFor(async () => expect(await admin.exists('mrtr:ledger:beginning')).toBe(1), {
      timeout: 60_000,
    });
    await waitForFile(admin);
  }

  const startPair = async () =>
    [await started([...DURABLE, '--repl-diskless-sync-delay', '0']), await started(DURABLE)] as const;

  test('a replica that takes over begins anew, however durable its primary was', async () => {
    const [primary, replica] = await startPair();
    const ledger = await newProcess(primary);
    await attach(primary, replica);
    // Detach the replica, as when the primary's host fails.
    await (await connectedTo(replica)).sendCommand(['REPLICAOF', 'NO', 'ONE']);
    const token = leaseRequest('a');
    await ledger.settle('a', await takeLease(ledger, token), 'done');
    expect(await (await newProcess(replica)).lease(token)).toEqual({ kind: 'older-than-ledger' });
  });

  test('a full Redis rejects new tokens and pages, finishes those it has, and accepts new ones when it has room', async () => {
    const server = await started(DURABLE);
    const admin = await connectedTo(server);
    const ledger = await newProcess(server);
    const [used, served, open] = [leaseRequest('a'), leaseRequest('b'), leaseRequest('c')];
    await ledger.settle('a', await takeLease(ledger, used), 'done');
    const lease = await takeLease(ledger, served);
    const page = { id: 'p', pseudonym: 'ada', value: 'x', ttlSeconds: 60 };
    const pages = new RedisInteractions(admin);
    await pages.add(page);
    await admin.configSet('maxmemory', '1');
    await expect(ledger.lease(open)).rejects.toThrow('OOM');
    await expect(pages.add({ ...page, id: 'q' })).rejects.toThrow('OOM');
    await ledger.settle('b', lease, 'done');
    for (const token of [used, served]) expect(await ledger.lease(token)).toMatchObject({ kind: 'settled' });
    expect(await pages.replace({ ...page, value: 'y' }, 'x', false)).toBe(true);
    await admin.configSet('maxmemory', '0');
    expect(await ledger.lease(open)).toEqual(FIRST);
    expect(await pages.add({ ...page, id: 'q' })).toBe(true);
  });

  test('a ledger warns once about settings that lose entries, and not about safe ones', async () => {
    const server = await started(DURABLE);
    const admin = await connectedTo(server);
    const warnings = heardWarnings();
    await newProcess(server);
    expect([...warnings('MRTR_REDIS_NOT_DURABLE'), ...warnings('MRTR_REDIS_EVICTS')]).toEqual([]);
    await admin.configSet({ appendfsync: 'everysec', 'maxmemory-policy': 'volatile-lru' });
    for (let n = 0; n < 2; n++) await newProcess(server);
    expect(warnings('MRTR_REDIS_NOT_DURABLE')).toEqual([expect.stringContaining('appendfsync everysec')]);
    expect(warnings('MRTR_REDIS_EVICTS')).toEqual([expect.stringContaining('volatile-lru')]);
  });
});
