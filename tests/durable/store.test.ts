/** Stores in this very process, on a real PostgreSQL. */
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { protectedServer, requestStatePolicy } from '@mrtr/core';
import type { DbosStoreOptions } from '@mrtr/linear-dbos';
import { DbosStore } from '@mrtr/linear-dbos';
import { linear } from '@mrtr/shapes/linear';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import {
  everything,
  type PostgresServer,
  query,
  testServer,
} from '../../packages/linear-dbos/src/database.test-support.ts';
import { ANYBODY, Instance } from './instances.test-support.ts';
import { Shop } from './shop.test-support.ts';
import { answering, type Outcome, type Sent, Site, type Trade } from './site.test-support.ts';

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

test('of many calls that a principal starts at once, as many begin as it may have', async () => {
  const limit = { maxCallsPerPrincipal: 5 };
  const one = await opened(limit);
  const two = await opened({ ...limit, postgres: one.postgres });
  for (const [principal, many] of [
    ['ada', 5],
    ['eve', 15],
  ] as const) {
    const sent = Array.from({ length: many }, (_, at) => (at % 2 ? one : two).site.send({ principal }));
    expect((await Promise.all(sent)).filter(({ asks }) => asks)).toHaveLength(5);
  }
});

test('keys are replaced while calls wait: behind the old one, in front, and the old one away', async () => {
  const [older, newer] = ['o'.repeat(32), 'n'.repeat(32)];
  const withKeys = (...keys: string[]) => requestStatePolicy({ keys });
  const one = await opened({ policy: withKeys(older, newer) });
  const two = await opened({ policy: withKeys(newer, older), postgres: one.postgres });
  const three = await opened({ policy: withKeys(newer), postgres: one.postgres });
  const [held, moved] = [{ arguments: { item: 'held' } }, { arguments: { item: 'moved' } }];
  const firsts = [await two.site.send(held), await one.site.send(moved)] as const;
  await one.store.close();
  const seconds = [
    await two.answer(firsts[0], { count: '3' }, held),
    await two.answer(firsts[1], { count: '3' }, moved),
  ] as const;
  // This one runs where it began, and gets its answer from one that knows the old key no more.
  const result = { says: expect.stringMatching(/^reserve #1, charge #\d, ship #\d$/) };
  expect(await three.answer(seconds[0], { address: 'home' }, held)).toEqual(result);
  await two.store.close();
  expect(await three.answer(seconds[1], { address: 'home' }, moved)).toEqual(result);
  const attempts = [one, two, three].map(({ shop }) => shop.of('moved').attempts);
  expect(attempts).toEqual([['reserve'], ['charge'], ['ship']]);
  expect([one, two, three].flatMap(({ errors }) => errors)).toEqual([]);
});

const SEALED_BY_NOBODY = '{"json":"AAAA","__dbos_serializer":"superjson"}';

test('an answer that nobody sealed is passed over, and an honest one counts', async () => {
  const { answer, errors, postgres, site } = await opened();
  const first = await site.send({});
  for (const text of [
    '"no JSON',
    '{"json":7}',
    '{"json":7,"__dbos_serializer":"superjson"}',
    SEALED_BY_NOBODY,
  ])
    await query(
      postgres,
      `INSERT INTO mrtr_linear.notifications (destination_uuid, topic, message)
       SELECT id, '1', '${text}' FROM mrtr_linear.mrtr_calls`,
    );
  await vi.waitFor(() => expect(errors).toHaveLength(4), 5000);
  expect(errors.at(-1)?.message).toContain('The answers 1 of call');
  const second = await answer(first, { count: '3' });
  expect(second.asks).toEqual({ address: 'Where to, for charge #2?' });
});

test('whoever may but connect to the database can end no call', async () => {
  const { answer, errors, postgres, site, store } = await opened();
  const first = await site.send({});
  await query(
    postgres,
    `SELECT pg_notify('mrtr_linear_' || instance, 'end ' || id) FROM mrtr_linear.mrtr_calls`,
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(store.parked).toBe(1);
  expect((await answer(first, { count: '3' })).asks).toBeDefined();
  expect(errors).toEqual([]);
});

test('refuses arguments that would be others when the handler is run again, and says which', async () => {
  const { errors, store } = await opened();
  const handler = () => 'ran';
  const ctx = { mcpReq: { signal: new AbortController().signal } };
  for (const when of [new Date(), new Map(), 10n]) {
    const round = { handler, input: { when }, id: undefined, call: {}, ctx };
    await expect(store.round(round as never)).rejects.toMatchObject({
      code: 'not_json',
      message: expect.stringContaining('must be JSON; $.when is not'),
    });
  }
  expect([store.parked, errors]).toEqual([0, []]);
});

test('what the policy fails with is not taken for the database', async () => {
  const failing = {
    ...policy,
    principal: () => {
      throw new Error('Who is that?');
    },
  };
  const { errors, site } = await opened({ policy: failing });
  expect(JSON.stringify(await site.send({}))).not.toContain('cannot be reached');
  expect(errors).toEqual([]);
});

test('a resource gets its URI as what it is', async () => {
  const { store } = await opened();
  const server = () => {
    const server = protectedServer({ name: 'resources', version: '0.0.0' }, policy);
    const text = (uri: URL) => ({ contents: [{ uri: uri.href, text: `${uri instanceof URL}` }] });
    server.registerResource('r', 'report://r', {}, linear(text, { store }));
    return server;
  };
  const client = await oldClient({ server } as Site, async () => ({}));
  const { contents } = await client.readResource({ uri: 'report://r' });
  expect(contents).toEqual([{ uri: 'report://r', text: 'true' }]);
  await client.close();
});

test('of an owner that is gone a moment after the first look the second one comes soon', async () => {
  const { answer, postgres } = await opened();
  const gone = await Instance.start({ postgres, version: '1', keys: [KEY] });
  const asked = [await gone.send({}), await gone.send({}), await gone.send({})];
  await gone.kill();
  const [owner] = await query<{ instance: string }>(postgres, 'SELECT instance FROM mrtr_linear.mrtr_calls');
  // In its place, for as long as PostgreSQL may take to end the session of a process that died.
  const session = new Client(postgres);
  await session.connect();
  onTestFinished(() => session.end());
  const SENT = "SELECT FROM mrtr_linear.notifications WHERE topic = '1'";
  const took: number[] = [];
  for (const first of asked) {
    await session.query('SELECT pg_advisory_lock($1::bigint)', [owner?.instance]);
    const answered = answer(first, { count: '3' }, { principal: ANYBODY });
    await vi.waitFor(async () => expect(await query(postgres, SENT)).toHaveLength(took.length + 1), {
      interval: 5,
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    const ended = performance.now();
    await session.query('SELECT pg_advisory_unlock($1::bigint)', [owner?.instance]);
    expect((await answered).asks).toBeDefined();
    took.push(performance.now() - ended);
  }
  expect(Math.min(...took)).toBeLessThan(400);
}, 20_000);

test('a store that is closed while calls wait says nothing more', async () => {
  const one = await opened();
  const two = await opened({ postgres: one.postgres });
  const first = await one.site.send({});
  await one.store.close();
  // What was its run of the call now waits for what becomes of the other one.
  expect((await two.answer(first, { count: '3' })).asks).toBeDefined();
  await two.store.close();
  // DBOS looks for what became of a call once a second.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect([one.errors, two.errors]).toEqual([[], []]);
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
    'another kind of database',
    { postgres: 'mysql://user@host/database' },
    'DbosStore: postgres must be a connection string, postgres://user@host/database.',
  ],
  [
    'a version of nothing',
    { version: '' },
    'DbosStore: version must be text that names the code of the handlers, and differs where they do: a commit, say.',
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
