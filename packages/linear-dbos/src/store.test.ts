/** Stores in this very process, on a real PostgreSQL. */
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { requestStatePolicy } from '@mrtr/core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { everything, type PostgresServer, query, testServer } from './database.test-support.ts';
import { ANYBODY, Instance } from './instances.test-support.ts';
import type { DbosStoreOptions } from './options.ts';
import { Shop } from './shop.test-support.ts';
import { answering, type Outcome, type Sent, Site, type Trade } from './site.test-support.ts';
import { DbosStore } from './store.ts';

const KEY = 'k'.repeat(32);
const FULL = 'Answer or cancel one of them, or try again later. Nothing of this call has run.';
const LOST =
  'This call cannot go on here: its continuation expired, was resumed already, or is unknown. Start the call again.';
const policy = requestStatePolicy({ keys: [KEY] });

let server: PostgresServer;
beforeAll(async () => {
  server = await testServer();
}, 60_000);
afterAll(() => server.stop());

/** A store on its own, or on `postgres`, with a site that uses it. */
async function opened(changes: Partial<DbosStoreOptions> = {}) {
  const postgres = changes.postgres ?? (await server.database());
  const errors: Error[] = [];
  const onerror = (error: Error) => void errors.push(error);
  const store = await DbosStore.open({ policy, version: '1', onerror, ...changes, postgres });
  onTestFinished(() => store.close());
  const shop = new Shop();
  const effect: Trade['effect'] = (wanted) =>
    new Promise((give) => shop.of(wanted.item).perform(wanted, give));
  const site = new Site(store, changes.policy ?? policy, { effect });
  const answer = (asked: Outcome, content: Readonly<Record<string, string>>, sent: Sent = {}) =>
    site.send({ ...answering(asked, content), ...sent });
  return { postgres, store, errors, shop, site, answer };
}

test('two stores of one process are two instances: when one is closed, the other one goes on', async () => {
  const one = await opened();
  const two = await opened({ postgres: one.postgres });
  const first = await one.site.send({});
  const second = await two.answer(first, { count: '3' });
  expect([one.store.parked, two.store.parked]).toEqual([1, 0]);
  await one.store.close();
  expect(await two.answer(second, { address: 'home' })).toEqual({ says: 'reserve #1, charge #2, ship #1' });
  expect([one.shop.of('tea').attempts, two.shop.of('tea').attempts]).toEqual([
    ['reserve', 'charge'],
    ['ship'],
  ]);
  expect(await one.site.send({})).toEqual({
    fails: 'This server is shutting down and takes no new calls of this kind.',
  });
  expect([one.errors, two.errors]).toEqual([[], []]);
});

test('nothing of a call is in the database in clear', async () => {
  const { answer, errors, postgres, site } = await opened();
  const sent = { arguments: { item: 'markermarker-item' }, principal: 'markermarker-principal' };
  const first = await site.send(sent);
  const parked = await everything(postgres);
  const second = await answer(first, { count: 'markermarker-count' }, sent);
  await answer(second, { address: 'markermarker-address' }, sent);
  const failing = { ...sent, name: 'failing' };
  expect(await answer(await site.send(failing), { count: 'markermarker-count' }, failing)).toEqual({
    fails: 'No markermarker-item left. Not even markermarker-count.',
  });
  const dump = parked + (await everything(postgres));
  // The dump has what it should have: the steps, the answers, and the calls.
  for (const table of ['operation_outputs', 'notifications', 'mrtr_calls'])
    expect(dump).toContain(`mrtr_linear.${table}\n(`);
  const texts = ['marker', 'How many', 'No ', 'reserve', 'charge', 'order', 'failing', KEY];
  const hex = texts.slice(0, 2).map((text) => Buffer.from(text).toString('hex'));
  // In base64, at each of the three places where it may begin; without the characters that neighbours share.
  const base64 = ['', 'x', 'xx'].map((before) =>
    Buffer.from(`${before}markermarker`)
      .toString('base64')
      .slice(before ? 4 : 0, 16),
  );
  expect([...texts, ...hex, ...base64].filter((text) => dump.includes(text))).toEqual([]);
  expect(errors).toEqual([]);
});

test('takes no more calls than it may, of one principal and at all', async () => {
  const { answer, site } = await opened({ maxCalls: 3, maxCallsPerPrincipal: 1 });
  const [ada, eve] = [{ principal: 'ada' }, { principal: 'eve' }];
  const first = await site.send(ada);
  const both = await Promise.all([site.send(eve), site.send(eve)]);
  expect(both.map(({ fails }) => fails).sort()).toEqual([
    `You have too many unanswered calls open. ${FULL}`,
    undefined,
  ]);
  await site.send({});
  expect(await site.send({})).toEqual({ fails: `This server has too many unanswered calls open. ${FULL}` });
  await answer(await answer(first, { count: '3' }, ada), { address: 'home' }, ada);
  expect((await site.send(ada)).asks).toBeDefined();
});

test('deletes what nobody answers, its own and that of the dead, and what is over', async () => {
  const short = { ttlSeconds: 1, sweepSeconds: 1 };
  const { answer, errors, postgres, site, store } = await opened(short);
  const gone = await Instance.start({ ...short, postgres, version: '1', keys: [KEY] });
  const [orphan, own] = [await gone.send({}), await site.send({})];
  await gone.kill();
  // Of this one nobody can ask for the result: it asked nothing.
  await site.send({ name: 'silent' });
  const left =
    'SELECT (SELECT count(*) FROM mrtr_linear.workflow_status) AS workflows, ' +
    '(SELECT count(*) FROM mrtr_linear.queues) AS queues, * FROM mrtr_linear.mrtr_calls';
  await vi.waitFor(
    async () =>
      expect((await query<{ done: boolean }>(postgres, left)).map(({ done }) => done)).toEqual([true]),
    { timeout: 10_000, interval: 100 },
  );
  expect(store.parked).toBe(0);
  for (const [asked, principal] of [
    [orphan, ANYBODY],
    [own, ''],
  ] as const)
    expect(await answer(asked, { count: '3' }, { principal })).toEqual({ fails: LOST });
  expect(await query(postgres, left)).toMatchObject([{ workflows: '1', queues: '1' }]);
  expect(errors).toEqual([]);
}, 20_000);

/** An old client of a site, which answers with `user`. */
async function oldClient(site: Site, user: (message: string) => Promise<Record<string, string>>) {
  const client = new OldClient(
    { name: 'linear-dbos-old', version: '0.0.0' },
    { capabilities: { elicitation: {} } },
  );
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
    action: 'accept',
    content: await user(params.message),
  }));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = site.server();
  await server.connect(theirs as unknown as Parameters<typeof server.connect>[0]);
  await client.connect(ours);
  return client;
}

test('an old client is asked over its connection, and its call ends with its request', async () => {
  const { errors, postgres, shop, site, store } = await opened();
  const answers = async (message: string): Promise<Record<string, string>> =>
    message.startsWith('How many') ? { count: '3' } : { address: 'home' };
  const client = await oldClient(site, answers);
  const result = await client.callTool({ name: 'order', arguments: { item: 'tea' } });
  expect(result.content).toEqual([{ type: 'text', text: 'reserve #1, charge #2, ship #3' }]);

  let isAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const gone = await oldClient(site, (message) => {
    if (message.startsWith('How many')) return answers(message);
    isAsked();
    return new Promise(() => {});
  });
  const call = gone.callTool({ name: 'order', arguments: { item: 'milk' } }).catch(() => 'closed');
  await asked;
  expect(store.parked).toBe(1);
  await gone.close();
  expect(await call).toBe('closed');
  const open = 'SELECT id FROM mrtr_linear.mrtr_calls WHERE NOT done';
  await vi.waitFor(async () => expect([store.parked, await query(postgres, open)]).toEqual([0, []]), 5000);
  expect(shop.of('milk').done).toEqual(['reserve milk', 'charge 3 milk']);
  expect(errors).toEqual([]);
  await client.close();
});

test('a call that goes on elsewhere has the rounds and the questions that it began with', async () => {
  const strict = requestStatePolicy({ keys: [KEY], maxRounds: 3, maxQuestions: 2 });
  const one = await opened({ policy: strict });
  const two = await opened({ postgres: one.postgres });
  const [curious, thorough] = [{ name: 'curious' }, { name: 'thorough' }];
  const [first, many, enough] = [
    await one.site.send(curious),
    await one.site.send(thorough),
    await one.site.send(thorough),
  ];
  await one.store.close();
  const second = await two.answer(first, { count: '3' }, curious);
  expect(second.asks).toEqual({ count: 'How many of tea, for the 2. time?' });
  expect(await two.answer(second, { count: '3' }, curious)).toEqual({
    fails: 'This call still needs input after 3 rounds.',
  });
  expect(Object.keys((await two.answer(enough, { count: '2' }, thorough)).asks ?? {})).toEqual(['q0', 'q1']);
  expect(await two.answer(many, { count: '3' }, thorough)).toEqual({
    fails: 'The call asked too many questions at once.',
  });
  expect(two.store.parked).toBe(1);
});

test('a process has one configuration', async () => {
  const { postgres } = await opened();
  await expect(DbosStore.open({ postgres, policy, version: '2' })).rejects.toThrow(
    'A DbosStore of another configuration is open in this process, and DBOS can be configured once. Give all ' +
      'stores of a process the same postgres, schema, version and poolSize, or close the other one first.',
  );
});

test.each([
  [
    'a time of nothing',
    { ttlSeconds: 0 },
    'DbosStore: ttlSeconds must be a whole number of at least 1; it is 0.',
  ],
  [
    'too few connections',
    { poolSize: 4 },
    'DbosStore: poolSize must be a whole number of at least 5; it is 4.',
  ],
  [
    'a schema that has to be quoted',
    { schema: 'a"b' },
    `DbosStore: schema must be a plain identifier; it is 'a"b'.`,
  ],
  [
    'what is no URL',
    { postgres: 'host=x password=p' },
    'DbosStore: postgres must be a connection string, postgres://user@host/database.',
  ],
  [
    'a policy without keys',
    { policy: requestStatePolicy() },
    'DbosStore: the policy has a random key of this process, and no other one could open what is stored. Give ' +
      'requestStatePolicy the same `keys` on every instance.',
  ],
])('refuses %s', async (_what, options, message) => {
  const good = { postgres: 'postgres://mrtr:secret@127.0.0.1:1/none', policy, version: '1' };
  await expect(DbosStore.open({ ...good, ...options })).rejects.toMatchObject({
    code: 'invalid_policy',
    message,
  });
});

test('a database that cannot be reached is said so, without the password, and can be tried again', async () => {
  const postgres = 'postgres://mrtr:secret-password@127.0.0.1:1/none';
  for (let attempt = 0; attempt < 2; attempt++) {
    const error: Error = await DbosStore.open({ postgres, policy, version: '1' }).then(
      () => new Error('It opened.'),
      (error: Error) => error,
    );
    expect(error.message).toContain('ECONNREFUSED');
    expect(JSON.stringify([error.message, error.stack, error])).not.toContain('secret-password');
  }
});
