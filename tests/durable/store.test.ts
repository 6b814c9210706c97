/** Stores in this process, on the database of this file. Tests that need their own database are in `store.proof.ts`. */

import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type McpServer, protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import { legacyClient } from '@mrtr/harness';
import { Deferred } from '@mrtr/harness/internal';
import { DbosStore } from '@mrtr/linear-dbos';
import { query } from '@mrtr/postgres-server';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { type LinearContext, type LinearStore, linear } from '@mrtr/shapes/linear';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { z } from 'zod';
import { cut, everything } from '../../packages/linear-dbos/src/database.test-support.ts';
import { LOST, WHERE_TO } from './call.test-support.ts';
import { type Options, opened as openedOn } from './opened.test-support.ts';
import { answering, StoreServer, UNASKED } from './site.test-support.ts';

const KEY = 'k'.repeat(32);
const FULL = 'Answer or cancel one of them, or try again later. Nothing of this call has run.';
const policy = requestStatePolicy({ keys: [KEY], ledger: UNASKED });

const { database, test } = await postgresOfTheRun();
let postgres: string;
/** A store that stays open for the whole file, because launching DBOS takes longer than most tests here. */
let launched: DbosStore;

beforeAll(async () => {
  postgres = await database();
  launched = await DbosStore.open({ postgres, policy, version: '1' });
});
beforeEach(() => query(postgres, 'DELETE FROM mrtr_linear.mrtr_calls'));
afterAll(() => launched.close());

/** A store that is open until the test ends, and a site that uses it. */
const opened = (changes: Partial<Options> = {}) => openedOn({ postgres, policy, ...changes });

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
  // The dump contains the steps, the answers, and the calls.
  for (const table of ['operation_outputs', 'notifications', 'mrtr_calls'])
    expect(dump).toContain(`mrtr_linear.${table}\n(`);
  const texts = ['marker', 'How many', 'No ', 'reserve', 'charge', 'order', 'failing', KEY];
  const hex = texts.slice(0, 2).map((text) => Buffer.from(text).toString('hex'));
  // Search for it in base64 too, at each of the three offsets, without the characters that depend on neighbours.
  const base64 = ['', 'x', 'xx'].map((before) =>
    Buffer.from(`${before}markermarker`)
      .toString('base64')
      .slice(before ? 4 : 0, 16),
  );
  expect([...texts, ...hex, ...base64].filter((text) => dump.includes(text))).toEqual([]);
  expect(errors).toEqual([]);
});

// docs/performance.md counts the statements of a call from this.
test('DBOS records one operation for each step, and two for each wait: the answer and its deadline', async () => {
  const { answer, site, postgres } = await opened();
  await answer(await answer(await site.send({}), { count: '3' }), { address: 'home' });
  const recorded = await query<{ readonly name: string }>(
    postgres,
    `SELECT substring(function_name from '^[^ ]+') AS name FROM mrtr_linear.operation_outputs
     WHERE workflow_uuid = (SELECT id FROM mrtr_linear.mrtr_calls) ORDER BY function_id`,
  );
  const wait = ['DBOS.recv', 'DBOS.sleep'];
  expect(recorded.map(({ name }) => name)).toEqual(['run', ...wait, 'run', ...wait, 'run']);
});

test('a store rejects calls over its limit, and over the limit of one principal', async () => {
  const { answer, site } = await opened({ limits: { calls: 3 } });
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

test('a store rejects arguments over its limit, and over the limit of one principal', async () => {
  const { site } = await opened({ limits: { bytes: 100_000, perPrincipal: 0.05 } });
  const [ada, eve] = [{ principal: 'ada' }, { principal: 'eve' }];
  const of = (bytes: number) => ({ arguments: { item: 'x'.repeat(bytes) } });
  expect((await site.send({ ...ada, ...of(3000) })).asks).toBeDefined();
  const full =
    'too large to keep together. Answer or cancel one of them, or send less. Nothing of this call has run.';
  expect(await site.send({ ...ada, ...of(3000) })).toEqual({
    fails: `The arguments of this call and of your open ones are ${full}`,
  });
  expect((await site.send({ ...eve, ...of(3000) })).asks).toBeDefined();
  expect(await site.send(of(100_000))).toEqual({
    fails: `The arguments of this call and of those that are open are ${full}`,
  });
});

test('only the principal that started a call may answer it, whatever the token says', async () => {
  const { answer, site, store } = await opened();
  const ada = { principal: 'ada' };
  const first = await site.send(ada);
  expect(await answer(first, { count: '3' }, { principal: 'eve' })).toEqual({
    rejects: 'Invalid or expired requestState',
  });
  // The token is valid, but the store sees another caller.
  const mistaken: Pick<LinearStore, 'runRound' | 'servesTokensOnce'> = {
    servesTokensOnce: true,
    runRound: (round) => store.runRound({ ...round, call: { ...round.call, isPseudonym: () => false } }),
  };
  const confused = new StoreServer(mistaken, policy, { effect: async () => '' });
  expect(await confused.send({ ...answering(first, { count: '3' }), ...ada })).toEqual(LOST);
  expect((await answer(first, { count: '3' }, ada)).asks).toEqual(WHERE_TO);
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
  await vi.waitFor(() => expect(errors).toHaveLength(4), 60_000);
  expect(errors.at(-1)?.message).toContain('The answers 1 of call');
  const second = await answer(first, { count: '3' });
  expect(second.asks).toEqual(WHERE_TO);
});

test('a role that can only connect to the database can end no call', async () => {
  const { answer, errors, postgres, site } = await opened();
  const first = await site.send({});
  await query(
    postgres,
    `SELECT pg_notify('mrtr_linear_' || instance, 'end ' || id) FROM mrtr_linear.mrtr_calls`,
  );
  // The store receives the notification long before these two rounds of several statements end.
  const second = await answer(first, { count: '3' });
  expect(await answer(second, { address: 'home' })).toEqual({ says: 'reserve #1, charge #2, ship #3' });
  expect(errors).toEqual([]);
});

test('a store rejects arguments that JSON would change, and names the first one', async () => {
  const { errors, store } = await opened();
  const handler = () => 'ran';
  const ctx = { mcpReq: { signal: new AbortController().signal } };
  for (const when of [new Date(), new Map(), 10n]) {
    const round = { handler, input: { when }, id: undefined, call: {}, ctx };
    await expect(store.runRound(round as never)).rejects.toMatchObject({
      code: 'not_json',
      message: expect.stringContaining('must be JSON; $.when is not'),
    });
  }
  expect([store.parked, errors]).toEqual([0, []]);
});

test('an error of the policy is not reported as an error of the database', async () => {
  const failing = policy.with({
    principal: () => {
      throw new Error('Who is that?');
    },
  });
  const { errors, site } = await opened({ policy: failing });
  expect(JSON.stringify(await site.send({}))).not.toContain('cannot be reached');
  expect(errors).toEqual([]);
});

test('a resource’s handler gets its URI as a URL', async () => {
  const { store } = await opened();
  const server = protectedServer({ name: 'resources', version: '0.0.0' }, policy);
  const text = (uri: URL) => ({ contents: [{ uri: uri.href, text: `${uri instanceof URL}` }] });
  server.registerResource('r', 'report://r', {}, linear(text, { store }));
  const client = await oldClient(server);
  const { contents } = await client.readResource({ uri: 'report://r' });
  expect(contents).toEqual([{ uri: 'report://r', text: 'true' }]);
  await client.close();
});

test('what runs when the session is lost hears its signal, and what runs afterwards has a fresh one', async () => {
  const { store } = await opened();
  const running = new Deferred();
  const tool = async (_args: object, ctx: LinearContext) => {
    const heard = await ctx.once('pay', () => {
      running.open();
      return new Promise<string>((resolve) => ctx.signal.addEventListener('abort', () => resolve('stopped')));
    });
    return textResult(`${heard}, ${await ctx.once('ship', () => ctx.signal.aborted)}`);
  };
  const client = await oldClient(serverOf(tool, store));
  const called = client.callTool({ name: 'order', arguments: {} });
  await running.promise;
  await cut(postgres);
  expect(await called).toMatchObject(textResult('stopped, false'));
  await client.close();
});

test('a handler reports progress in each round', async () => {
  const { store } = await opened();
  const tool = async (_args: object, ctx: LinearContext) => {
    await ctx.progress(1, 3, 'begun');
    const { count } = await ctx.elicit('How many?', z.object({ count: z.string() }));
    await ctx.progress(2, 3, `${count} counted`);
    return textResult('done');
  };
  const client = await oldClient(serverOf(tool, store), async () => ({ count: '3' }));
  const reported: unknown[] = [];
  const onprogress = ({ message }: { message?: string | undefined }) => void reported.push(message);
  await client.callTool({ name: 'order', arguments: {} }, undefined, { onprogress });
  expect(reported).toEqual(['begun', '3 counted']);
  await client.close();
});

test('a step behind a question whose await was forgotten does not run', async () => {
  const { store, errors } = await opened();
  const asked: string[] = [];
  const paid: string[] = [];
  const tool = async (_args: object, ctx: LinearContext) => {
    ctx.elicit('Really pay?', z.object({ count: z.string() }));
    await ctx.once('pay', () => paid.push('paid'));
    return textResult('paid');
  };
  const client = await oldClient(serverOf(tool, store), async (message) => {
    asked.push(message);
    return { count: '1' };
  });
  expect(await client.callTool({ name: 'order', arguments: {} })).toMatchObject({
    isError: true,
    content: [
      { text: expect.stringMatching(/^No code waits for .* 'count', so the effect 'pay' did not run/) },
    ],
  });
  expect([paid, asked, errors]).toEqual([[], [], []]);
  await client.close();
});

function serverOf(tool: (args: object, ctx: LinearContext) => Promise<CallToolResult>, store: DbosStore) {
  const server = protectedServer({ name: 'own', version: '0.0.0' }, policy);
  server.registerTool('order', { inputSchema: z.object({}) }, linear(tool, { store }));
  return server;
}

/** An old client of a server. `user` answers; without one, the client cannot be asked. */
async function oldClient(server: McpServer, user?: (message: string) => Promise<Record<string, string>>) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs as unknown as Parameters<typeof server.connect>[0]);
  if (!user) return legacyClient(ours, {});
  return legacyClient(ours, {
    user: async ({ message }) => ({ action: 'accept', content: await user(message) }),
  });
}

test('an old client is asked over its connection, and its call ends when the connection does', {
  timeout: 60_000,
}, async () => {
  const { errors, postgres, shop, site, store } = await opened();
  const answers = async (message: string): Promise<Record<string, string>> =>
    message.startsWith('How many') ? { count: '3' } : { address: 'home' };
  const client = await oldClient(site.server(), answers);
  const result = await client.callTool({ name: 'order', arguments: { item: 'tea' } });
  expect(result.content).toEqual([{ type: 'text', text: 'reserve #1, charge #2, ship #3' }]);

  const asked = new Deferred();
  const gone = await oldClient(site.server(), (message) => {
    if (message.startsWith('How many')) return answers(message);
    asked.open();
    return new Promise(() => {});
  });
  const call = gone.callTool({ name: 'order', arguments: { item: 'milk' } }).catch(() => 'closed');
  await asked.promise;
  expect(store.parked).toBe(1);
  await gone.close();
  expect(await call).toBe('closed');
  const open = 'SELECT id FROM mrtr_linear.mrtr_calls WHERE NOT done';
  // If an earlier test cut the session on which DBOS listens, a parked call polls by itself every 20 seconds.
  await vi.waitFor(async () => expect([store.parked, await query(postgres, open)]).toEqual([0, []]), 60_000);
  expect(shop.of('milk').done).toEqual(['reserve milk', 'charge 3 milk']);
  expect(errors).toEqual([]);
  await client.close();
});

test('a call whose client cannot be asked tells the policy’s onerror which effects had run', async () => {
  const told: string[] = [];
  const onerror = ({ message }: Error) => void told.push(message);
  const telling = requestStatePolicy({ keys: [KEY], ledger: UNASKED, onerror });
  const { site } = await opened({ policy: telling });
  const unaskable = await oldClient(site.server());
  const result = await unaskable.callTool({ name: 'order', arguments: { item: 'tea' } });
  expect(result).toMatchObject({ isError: true });
  expect(told).toEqual([expect.stringContaining("had run: 'reserve'. Declare asks: ['elicitation'] where")]);
  await unaskable.close();
});

test('a handler reads who sent each round, without the token and without what is no JSON', async () => {
  const { answer, site } = await opened();
  const sent = { name: 'signedIn', principal: 'ada' };
  const first = await site.send(sent);
  site.scopes = ['pay'];
  const { says = '' } = await answer(first, { count: '3' }, sent);
  const ada = { clientId: 'app', scopes: [], extra: { sub: 'ada' } };
  expect(JSON.parse(says)).toEqual([ada, { ...ada, scopes: ['pay'] }]);
});

test('a second store of a process must have the configuration of the first', async () => {
  const { postgres } = await opened();
  await expect(DbosStore.open({ postgres, policy, version: '2' })).rejects.toThrow(
    'A DbosStore of another configuration is open in this process, and DBOS can be configured once. Give all ' +
      'stores of a process the same postgres, schema, version and poolSize, or close the other one first.',
  );
});
