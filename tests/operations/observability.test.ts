/** Runs the commands of docs/observability.md and its files on real servers, and checks the reasons of docs/operating.md. */
import { execFileSync } from 'node:child_process';
import { REJECTION_REASONS } from '@mrtr/core/events';
import { derivePseudonym, keyRing, type SealingKey } from '@mrtr/core/seal';
import { PostgresLedger } from '@mrtr/ledgers/postgres';
import { RedisLedger } from '@mrtr/ledgers/redis';
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { expect, onTestFinished, test } from 'vitest';
import { FIRST, leaseRequest, takeLease } from '../../packages/ledgers/src/contract-requests.ts';
import { opened } from '../durable/opened.test-support.ts';
import { policyOf } from '../durable/site.test-support.ts';
import { textOf } from '../testkit/project-files.ts';

const DOCUMENT = textOf('docs/observability.md');
const FILES = ['docs/stuck-calls.sql', 'docs/stuck-calls.sh'].flatMap((file) => textOf(file).split('\n\n'));
const KEY = 'k'.repeat(32);
const sealing = keyRing([KEY])[0] as SealingKey;
const { database, test: onPostgres } = await postgresOfTheRun();

/** The block of the document or of a file that begins with this comment, with `values` for its capitalized words. */
function blockOf(comment: string, values: Readonly<Record<string, string>> = {}): string {
  const blocks = [
    ...[...DOCUMENT.matchAll(/^```sh\n# ([\s\S]*?)^```$/gm)].map(([, text = '']) => text),
    ...FILES.map((text) => text.replace(/^(?:--|#) /, '')),
  ];
  const found = blocks.filter((text) => text.startsWith(comment));
  if (found.length !== 1)
    throw new Error(`${found.length} blocks of docs/observability.md begin with '${comment}'.`);
  const code = String(found[0]).split('\n').slice(1).join('\n');
  return Object.entries(values).reduce(
    (text, [name, value]) => text.replaceAll(`'${name}'`, `'${value}'`),
    code,
  );
}

const run = (code: string, env: NodeJS.ProcessEnv): string[] =>
  execFileSync('sh', ['-c', code], { env: { ...process.env, ...env }, cwd: import.meta.dirname })
    .toString()
    .split('\n')
    .filter((line) => line !== '');

/** This repository's packages are sources; an installed one is not. */
const TYPESCRIPT = { NODE_OPTIONS: '--import tsx' };

test('the document has every reason, and no other', () => {
  const rows = Object.entries(REJECTION_REASONS).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |`);
  expect(rows).toHaveLength(12);
  const operating = textOf('docs/operating.md');
  const section = operating.slice(
    operating.indexOf('## Reasons of rejections'),
    operating.indexOf('## A leaked key'),
  );
  const documented = [...section.matchAll(/^(\| `\w+` \| [^|]+ \|)/gm)].map(([, row]) => row);
  expect(documented).toEqual(rows);
});

test('the command prints the pseudonyms of a principal, also of one that a shell could read', () => {
  const principal = JSON.stringify(['https://issuer.example', 'client-id', { sub: "al'i`c$e" }]);
  const secrets = [KEY, 'o'.repeat(32)];
  expect(
    run(blockOf('A principal'), { ...TYPESCRIPT, STATE_KEYS: secrets.join(' '), PRINCIPAL: principal }),
  ).toEqual(keyRing(secrets).map((key) => derivePseudonym(principal, key)));
});

const PSEUDONYM = derivePseudonym('ada', sealing);
type OpenCall = { readonly id: string; readonly pseudonym: string; readonly runs: boolean };

/** An open call of `ada`, beside those of another caller and of another tool. */
async function withOpenCall() {
  const served = await opened({ postgres: await database(), policy: policyOf([KEY]) });
  const { postgres, site } = served;
  const first = await site.send({ principal: 'ada', name: 'order' });
  await site.send({ principal: 'eve', name: 'order' });
  await site.send({ principal: 'ada', name: 'thorough' });
  await query(postgres, 'UPDATE mrtr_linear.workflow_status SET created_at = created_at - 700000');
  const find = (tool = 'order', pseudonym = PSEUDONYM) => {
    const values = { PSEUDONYM: pseudonym, TOOL: derivePseudonym(`tools/call ${tool}`, sealing) };
    return query<OpenCall>(postgres, blockOf('Open calls', values));
  };
  const end = (id: string) => query(postgres, blockOf('End one call', { CALL: id }));
  return { ...served, first, find, end };
}

onPostgres('a call that waits is found by caller, tool and age, and ended', async () => {
  const { answer, end, errors, find, first, postgres, store } = await withOpenCall();
  const [call, ...others] = (await find()) as [OpenCall, ...OpenCall[]];
  expect([call, others]).toMatchObject([{ pseudonym: PSEUDONYM, runs: false, instance_is_gone: false }, []]);
  expect([await find('order', 'nobody'), await find('failing')]).toEqual([[], []]);
  expect(store.parked).toBe(3);
  expect(await end(call.id)).toHaveLength(1);
  await expect.poll(() => store.parked).toBe(2);
  expect(await answer(first, { count: '3' }, { principal: 'ada', name: 'order' })).toEqual({
    fails: expect.stringContaining('cannot be resumed'),
  });
  expect([await find(), await end(call.id)]).toEqual([[], []]);
  await query(postgres, 'UPDATE mrtr_linear.workflow_status SET created_at = created_at + 700000');
  expect(await find('thorough')).toEqual([]);
  expect(errors).toEqual([]);
});

onPostgres(
  'a call whose handler hangs is found as one that runs, and its client hears that it was ended',
  async () => {
    const { answer, end, find, first, shop } = await withOpenCall();
    const hangs = shop.of('tea').hold('charge');
    const answered = answer(first, { count: '3' }, { principal: 'ada', name: 'order' });
    await hangs;
    await expect.poll(async () => (await find()).map(({ runs }) => runs)).toEqual([true]);
    for (const { id } of await find()) await end(id);
    expect(await answered).toEqual({ fails: expect.stringContaining('cannot be resumed') });
  },
);

onPostgres('a lease on PostgreSQL is seen, and one that is released is given again', async () => {
  const pool = new Pool({ connectionString: await database() });
  onTestFinished(() => pool.end());
  const ledger = new PostgresLedger(pool);
  await ledger.createTable();
  const [held, served] = [leaseRequest('held', { pseudonym: PSEUDONYM }), leaseRequest('served')];
  expect(await ledger.lease(held)).toEqual(FIRST);
  await ledger.settle('served', await takeLease(ledger, served), 'result');
  const seen = await pool.query(blockOf('PostgreSQL: leases'));
  expect(seen.rows).toEqual([
    { id: 'held', pseudonym: PSEUDONYM, lease_until: expect.any(Date), is_lost: false },
  ]);
  const release = async (id: string) =>
    (await pool.query(blockOf('PostgreSQL: release', { TOKEN: id }))).rowCount;
  expect([await release('served'), await release('(beginning)'), await release('held')]).toEqual([0, 0, 1]);
  expect(await ledger.lease(held)).toEqual(FIRST);
});

test.skipIf(process.env.MRTR_TEST_REDIS === undefined)(
  'a lease on Redis is seen, and one that is released is given again (needs .ci/with-servers)',
  async () => {
    const url = process.env.MRTR_TEST_REDIS as string;
    const client = await createClient({ url }).connect();
    onTestFinished(() => client.close());
    const ledger = new RedisLedger(client);
    await ledger.begin();
    const held = leaseRequest('held', { pseudonym: PSEUDONYM });
    expect(await ledger.lease(held)).toEqual(FIRST);
    const { host, password } = new URL(url);
    const env = { REDIS_URL: `redis://${host}`, TOKEN: 'held', REDISCLI_AUTH: password };
    expect(run(blockOf('Redis: leases'), env)).toEqual([
      expect.stringMatching(`^held ${PSEUDONYM} \\d{13}$`),
    ]);
    expect([run(blockOf('Redis: release'), env), run(blockOf('Redis: release'), env)]).toEqual([
      ['1'],
      ['0'],
    ]);
    expect(await ledger.lease(held)).toEqual(FIRST);
    await ledger.settle('served', await takeLease(ledger, leaseRequest('served')), 'result');
    expect(run(blockOf('Redis: release'), { ...env, TOKEN: 'served' })).toEqual(['0']);
  },
);
