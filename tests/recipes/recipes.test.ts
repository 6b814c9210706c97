/** The recipes of docs/recipes do what they say. Those of fastify and Next are in `recipes.proof.ts`. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type McpServer, protectedServer } from '@mrtr/core';
import { keyRingOf } from '@mrtr/core/seal';
import { Conversation, host, InProcess, type LogicalCall, modernClient, poster } from '@mrtr/harness';
import { Deferred } from '@mrtr/harness/internal';
import { eventsOf, resultText } from '@mrtr/harness/transcript';
import { serveHttp } from '@mrtr/hosting/http';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { mcp as authenticated } from '../../demos/recipes/authenticated.ts';
import * as capabilities from '../../demos/recipes/capabilities.ts';
import { registerDeploy } from '../../demos/recipes/deploy.ts';
import * as durable from '../../demos/recipes/durable.ts';
import * as existing from '../../demos/recipes/existing-server.ts';
import * as hostedOverHttp from '../../demos/recipes/hosted.ts';
import { policyWithKeysOf } from '../../demos/recipes/keys-from-file.ts';
import * as noArguments from '../../demos/recipes/no-arguments.ts';
import { app as express } from '../../demos/recipes/on-express.ts';
import { app as expressWithUsers } from '../../demos/recipes/on-express-with-users.ts';
import { app as hono } from '../../demos/recipes/on-hono.ts';
import { app as honoWithUsers } from '../../demos/recipes/on-hono-with-users.ts';
import { server as nodeHttp } from '../../demos/recipes/on-node-http.ts';
import * as plain from '../../demos/recipes/plain.ts';
import * as postgresLedger from '../../demos/recipes/postgres-ledger.ts';
import * as redisBus from '../../demos/recipes/redis-bus.ts';
import * as redisLedger from '../../demos/recipes/redis-ledger.ts';
import { hostWithLog } from '../../demos/recipes/rejections.ts';
import { traceTo } from '../../demos/recipes/traced.ts';
import { redisOfThisFile } from '../testkit/redis.ts';
import { REJECTED } from '../testkit/rejected.ts';
import { asksBoth, called, DEPLOY, keepsUsersApart, listeningAt, urlOf } from './recipes.test-support.ts';

test.each([
  ['the plain protocol', plain.createServer],
  ['an existing McpServer', existing.createServer],
])('%s asks clients of both eras', async (_what, server) => {
  for (const client of ['modern', 'legacy'] as const)
    expect(
      await called(
        host('memory', () => ({ server })),
        { client },
      ),
    ).toBe('Deployed to staging.');
});

test('keys in a file are rolled with the commands of docs/security.md, and no call is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const security = readFileSync('docs/security.md', 'utf8');
  const [roll, leak] = [...security.matchAll(/```sh\n([^`]*openssl rand[^`]*)```/g)].map(
    ([, text = '']) => text,
  );
  const [append, front, drop] = (roll ?? '').split('\n').filter((line) => line.includes('mv keys.new keys'));
  const run = (command = '') => execFileSync('sh', ['-ec', command], { cwd: folder });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  run('openssl rand -base64 32 > keys');
  const policy = await policyWithKeysOf(join(folder, 'keys'));
  const { post } = new InProcess(() => {
    const server = protectedServer({ name: 'keys', version: '1.0.0' }, policy);
    registerDeploy(server);
    return server;
  });
  const begin = async () => (await post('tools/call', DEPLOY.params)).result?.requestState;
  const goOn = (requestState: unknown) =>
    post('tools/call', {
      ...DEPLOY.params,
      requestState,
      inputResponses: { sure: { action: 'accept', content: { sure: 'yes' } } },
    });
  const read = async () => {
    const before = keyRingOf(policy);
    await vi.advanceTimersByTimeAsync(300_000);
    await vi.waitFor(() => expect(keyRingOf(policy)).not.toBe(before), 10_000);
  };
  const states = [await begin()];
  for (const command of [append, front]) {
    run(command);
    await read();
    states.push(await begin());
  }
  for (const state of states)
    expect(resultText((await goOn(state)).result ?? {})).toBe('Deployed to staging.');
  run(drop);
  await read();
  const [under, kept] = [await begin(), await begin()];
  expect(resultText((await goOn(kept)).result ?? {})).toBe('Deployed to staging.');
  run(leak);
  await read();
  expect((await goOn(under)).error).toEqual(REJECTED);
});

test('@mrtr/hosting serves clients of both eras over HTTP', async () => {
  const { url, close } = await hostedOverHttp.open(0);
  onTestFinished(close);
  for (const client of ['modern', 'legacy'] as const) {
    expect(await called(listeningAt(url), { client })).toBe('Deployed to staging.');
  }
});

test('each call is a span, with one for each round', async () => {
  const exporter = new InMemorySpanExporter();
  const stop = traceTo(exporter);
  await called(host('memory', () => ({ server: existing.createServer })));
  stop();
  const names = exporter.getFinishedSpans().map(({ name }) => name);
  expect(names).toEqual(['round 1', 'round 2', 'tools/call deploy']);
});

/** Web requests, as the adapters of hono and others make them. */
const onWeb = (fetch: (request: Request) => Response | Promise<Response>) =>
  createServer(getRequestListener(fetch, { overrideGlobalObjects: false }));

const OTHER = 'Not MCP.';
express.get('/', (_req, res) => void res.send(OTHER));
hono.get('/', (c) => c.text(OTHER));

test.each([
  ['express', () => createServer(express), OTHER],
  ['hono', () => onWeb(hono.fetch), OTHER],
  ['node:http', () => nodeHttp, expect.stringContaining('Nothing is here')],
])('%s asks clients of both eras, beside other routes', async (_what, server, other) =>
  asksBoth(await urlOf(server()), other),
);

test('a route of your own says whether the server is ready', async () => {
  for (const server of [createServer(express), onWeb(hono.fetch)])
    expect((await fetch(new URL('/readyz', await urlOf(server)))).status).toBe(200);
});

test('a tool without arguments asks', async () => {
  const call: LogicalCall = { method: 'tools/call', params: { name: 'rate' } };
  const hosting = host('memory', () => ({ server: noArguments.createServer }));
  expect(await called(hosting, { call })).toBe('4 of 5.');
});

test('capabilities can be added to a protected server, which asks all the same', async () => {
  const site = new InProcess(capabilities.createServer);
  onTestFinished(() => site.close());
  const client = await site.modern();
  expect(client.getServerCapabilities()).toMatchObject({
    logging: {},
    tools: {},
    experimental: { 'example.com/dry-run': {} },
  });
  const hosting = host('memory', () => ({ server: capabilities.createServer }));
  expect(await called(hosting)).toBe('Deployed to staging.');
});

test.each([
  ['a web-standard fetch', () => onWeb((request) => authenticated.fetch(request))],
  ['express', () => createServer(expressWithUsers)],
  ['hono', () => onWeb(honoWithUsers.fetch)],
])('on %s, what one user was asked, another one cannot answer', async (_what, server) =>
  keepsUsersApart(await urlOf(server())),
);

test('rejections are reported in four places, and the mount’s onerror gets none that the server’s gets', async () => {
  const heard: string[] = [];
  const site = hostWithLog((place, what) => void heard.push(`${place}: ${what}`));
  onTestFinished(site.close);
  const post = poster(await urlOf(onWeb((request) => site.fetch(request))));
  const call = (more: object) => post('tools/call', { ...DEPLOY.params, ...more });
  const askedWith = (asked: { result?: { requestState?: unknown } }, sure: unknown) => ({
    requestState: asked.result?.requestState,
    inputResponses: { sure: { action: 'accept', content: { sure } } },
  });

  const LINE =
    'requestState rejected: invalid (malformed) [call unknown, caller anonymous, tools/call deploy]';
  await call({ requestState: 'forged' });
  expect(heard.splice(0).sort()).toEqual([
    'mrtr:rejection: invalid malformed',
    `policy.onerror: ${LINE}`,
    `server.onerror: ${LINE}`,
  ]);

  const nonsense = await call(askedWith(await call({}), 'perhaps'));
  expect(heard).toEqual([]);
  await call(askedWith(nonsense, 'perhaps'));
  expect(heard.splice(0)).toEqual(['mrtr:answer: sure invalid 2']);

  const unknown = await post('tools/call', DEPLOY.params, {
    headers: { 'mcp-protocol-version': '2031-01-01' },
  });
  expect(unknown.status).toBe(400);
  expect(heard.splice(0)).toEqual([expect.stringMatching(/^mount\.onerror: Rejected/)]);
});

interface Opened {
  readonly createServer: () => McpServer;
  close(): Promise<unknown>;
}

/** A retry that two instances get is served once, and answered twice. */
async function servesOnce(open: () => Promise<Opened>): Promise<void> {
  const [one, other] = [await open(), await open()];
  onTestFinished(async () => void (await Promise.all([one.close(), other.close()])));
  const conversation = await Conversation.start({ client: 'modern', call: DEPLOY }, () =>
    host('memory', () => ({ server: one.createServer })),
  );
  const done = await conversation.first.answer({ sure: 'yes' });
  conversation.hosting.another(() => ({ server: other.createServer }));
  const again = await conversation.first.again();
  const { events, end } = await conversation.close();
  expect(resultText(end.result ?? {})).toBe('Deployed to staging.');
  expect(again.end).toEqual(done.end);
  expect(eventsOf('state', events).map(({ instance, phase }) => `${instance} ${phase}`)).toEqual([
    'i1 sealed',
    'i1 opened',
    'i2 replayed',
  ]);
  expect(eventsOf('entry', events).map(({ instance }) => instance)).toEqual(['i1', 'i1']);
}

const KEYS = ['a key of at least thirty-two bytes'];

const { database, test: onPostgres } = await postgresOfTheRun();
onPostgres('a handler that waits on PostgreSQL asks', async () => {
  const { createServer, close } = await durable.open(await database(), KEYS);
  onTestFinished(close);
  expect(await called(host('memory', () => ({ server: createServer })))).toBe(
    'Deployed to staging, ticket for staging.',
  );
});
onPostgres('two instances share a ledger on PostgreSQL', async () => {
  const url = await database();
  await servesOnce(async () => {
    const opened = postgresLedger.open(url, KEYS);
    await opened.ledger.createTable();
    return opened;
  });
});

const redis = await redisOfThisFile();
afterAll(() => redis?.stop());
if (redis) {
  test('two instances share a ledger on Redis', () =>
    servesOnce(() => redisLedger.open(redis.options, KEYS)));

  test('a subscription on one instance hears what another publishes, over a bus on Redis', async () => {
    const instance = async () => {
      const bus = await redisBus.open(redis.options);
      onTestFinished(bus.close);
      const hosting = await serveHttp({ server: existing.createServer }, { bus });
      onTestFinished(hosting.close);
      const client = await modernClient(new StreamableHTTPClientTransport(hosting.url));
      onTestFinished(() => client.close());
      const changed = new Deferred();
      client.setNotificationHandler('notifications/tools/list_changed', () => changed.open());
      await client.listen({ toolsListChanged: true });
      return { notify: hosting.notify, changed: changed.promise };
    };
    const [one, other] = [await instance(), await instance()];
    one.notify.toolsChanged();
    await Promise.all([one.changed, other.changed]);
  });
}
