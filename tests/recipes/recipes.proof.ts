/** The recipes for fastify and Next, which are installed here and not with everything else: they have 70 packages. */
import { spawnSync } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { processWide } from '@mrtr/core/internal';
import { type Program, RunningProcess } from '@mrtr/harness/process';
import { resultText } from '@mrtr/harness/transcript';
import { createMcpMount, type MountOptions } from '@mrtr/hosting/http';
import { PostgresLedger } from '@mrtr/ledgers/postgres';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { Pool } from 'pg';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { served, verifier } from '../../demos/recipes/authenticated.ts';
import { createServer } from '../../demos/recipes/deploy.ts';
import { mrtrCheck } from '../check/cli.test-support.ts';
import { installFolder } from '../testkit/own-lockfile.ts';
import { asksBoth, callAs, keepsUsersApart } from './recipes.test-support.ts';

const FASTIFY = new URL('../../demos/recipes/fastify/', import.meta.url);
const NEXT = new URL('../../demos/recipes/next/', import.meta.url);

interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
  auth?: AuthInfo;
}

/** What the part of fastify that is used here looks like from outside of its folder. */
interface Application {
  addHook(name: 'onRequest', hook: (request: FastifyRequest) => Promise<void>): void;
  all(path: string, serve: (request: FastifyRequest, reply: Reply) => Promise<unknown>): void;
  listen(options: { readonly port: number; readonly host: string }): Promise<string>;
  close(): Promise<void>;
}

interface Reply {
  readonly raw: ServerResponse;
  hijack(): void;
  send(text: string): unknown;
}

beforeAll(() => {
  installFolder(FASTIFY);
  const args = ['exec', 'tsc', '-p', fileURLToPath(FASTIFY)];
  const { status, stdout } = spawnSync('pnpm', args, {
    shell: process.platform === 'win32',
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The recipes for fastify do not compile: ${stdout}`);
});

const { database, test: onPostgres } = await postgresOfTheRun();

const importFrom = async (file: string) => import(new URL(file, FASTIFY).href);

async function listen(app: Application): Promise<URL> {
  onTestFinished(() => app.close());
  return new URL('/mcp', await app.listen({ port: 0, host: '127.0.0.1' }));
}

test('fastify asks clients of both eras, beside other routes', async () => {
  const { app }: { app: Application } = await importFrom('on-fastify.ts');
  app.all('/', async (_request, reply) => reply.send('Not MCP.'));
  await asksBoth(await listen(app), 'Not MCP.');
});

test('the checker takes what fastify answers to a body that is too long for an HTTP error', async () => {
  const { handle } = createMcpMount({ server: createServer });
  const app: Application = (await importFrom('node_modules/fastify/fastify.js')).default();
  app.all('/mcp', (request, reply) => {
    reply.hijack();
    return handle(request.raw, reply.raw, request.body);
  });
  const url = await listen(app);
  const long = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: 'x'.repeat(2 ** 20 + 1),
  };
  const rejected = await fetch(url, long);
  expect([rejected.status, await rejected.json()]).toMatchObject([413, { error: 'Payload Too Large' }]);
  const call = [
    '--tool',
    'deploy',
    '--arguments',
    '{"env":"staging"}',
    '--generate-answers',
    '--allow-effects',
  ];
  const { code, out } = await mrtrCheck(`${url}`, ...call, '--only', 'state.malformed,wire.shape');
  expect([code, out]).toEqual([0, expect.stringContaining('2 pass')]);
});

test('on fastify, what one user was asked, another one cannot answer', async () => {
  await keepsUsersApart(await listen((await importFrom('on-fastify-with-users.ts')).app));
});

/** A sign-in that leaves the caller in `request.auth`, where the mount does not see it. */
async function listenWithWrongPlace(options: MountOptions): Promise<URL> {
  const mcp = createMcpMount(served, options);
  const app: Application = (await importFrom('node_modules/fastify/fastify.js')).default();
  app.addHook('onRequest', async (request) => {
    request.auth = await verifier.verifyAccessToken(
      `${request.headers.authorization}`.slice('Bearer '.length),
    );
  });
  app.all('/mcp', async (request, reply) => {
    expect(request.auth?.extra).toEqual({ sub: expect.stringMatching(/^(?:ada|bob)$/) });
    reply.hijack();
    await mcp.handle(request.raw, reply.raw, request.body);
  });
  return listen(app);
}

const PLACE = 'fastify: `request.raw.auth`, not `request.auth`';

test('on fastify, a caller in `request.auth` is nobody: the process warns once, or the mount refuses', async () => {
  processWide('warned', () => new Set<string>()).clear();
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emitted.mockRestore());
  const open = await listenWithWrongPlace({});
  // This is what the warning is for.
  const finished = await callAs('bob', open, await callAs('ada', open));
  expect(resultText(finished.result ?? {})).toBe('Deployed to staging.');
  const warnings = emitted.mock.calls.filter(([, options]) => Object(options).code === 'MRTR_ANONYMOUS');
  expect(warnings.map(([text]) => text)).toEqual([expect.stringContaining(PLACE)]);

  const errors: string[] = [];
  const onerror = ({ message }: Error) => void errors.push(message);
  const closed = await listenWithWrongPlace({ anonymous: 'reject', onerror });
  expect((await callAs('ada', closed)).status).toBe(401);
  expect(errors).toEqual([expect.stringContaining(PLACE)]);
});

/** What two instances share. */
async function sharedEnvironment(): Promise<Record<string, string>> {
  const url = await database();
  const pool = new Pool({ connectionString: url });
  await new PostgresLedger(pool).createTable();
  await pool.end();
  const TOKENS = 'ada=ada-secret-of-16+,bob=bob-secret-of-16+';
  return { DATABASE_URL: url, STATE_KEY: 'a key of at least thirty-two bytes', TOKENS };
}

/** Starts a program, which ends with the test, and finds its address in its output. */
async function start(program: Program, address: RegExp, cwd?: string): Promise<URL> {
  const running = new RunningProcess(program, { cwd, patienceMs: 100_000 });
  onTestFinished(() => running.stop());
  return new URL('/mcp', await running.until(({ out }) => address.exec(out)?.[1]));
}

onPostgres(
  'on Lambda, another instance serves the answer, and an old client gets an error at once',
  async () => {
    const env = await sharedEnvironment();
    const args = ['--import', 'tsx', 'tests/recipes/lambda-instance.test-support.ts'];
    const instance = () => start({ command: process.execPath, args, env }, /(http:\S+)/);
    const [one, other] = await Promise.all([instance(), instance()]);
    await keepsUsersApart(one, other, 'stateless');
  },
);

onPostgres('on Next, another instance serves the answer, and an old client is asked', async () => {
  installFolder(NEXT);
  const env = { ...(await sharedEnvironment()), NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };
  const cwd = fileURLToPath(NEXT);
  const next = (args: string[], more = {}) => ({
    command: process.execPath,
    args: ['node_modules/next/dist/bin/next', ...args],
    env: { ...env, ...more },
  });
  const ofTheBuild = {
    STATE_KEY: 'the key of the build, of no instance',
    TOKENS: 'nobody=a-secret-of-nobody',
    DATABASE_URL: '',
  };
  const build = new RunningProcess(next(['build'], ofTheBuild), { cwd, patienceMs: 100_000 });
  expect([await build.ended, build.output]).toEqual([0, expect.anything()]);
  const listening = next(['start', '--port', '0', '--hostname', '127.0.0.1']);
  const instance = () => start(listening, /Local: +(http:\S+)[\s\S]+Ready/, cwd);
  const [one, other] = await Promise.all([instance(), instance()]);
  await keepsUsersApart(one, other);
  // A page of this machine reads the rejection too, and its preflight needs no token.
  const headers = { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' };
  for (const [method, status] of [
    ['OPTIONS', 204],
    ['POST', 401],
  ] as const) {
    const answer = await fetch(one, { method, headers });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
      status,
      headers.origin,
    ]);
  }
});
