import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { legacyClient, modernClient, poster } from '@mrtr/harness';
import { RunningProcess } from '@mrtr/harness/process';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { run } from './terminal.test-support.ts';

const { database, test: testOnPostgres } = await postgresOfTheRun();

const RUN = fileURLToPath(new URL('../run.mjs', import.meta.url));
const TOKEN = 'the-token-of-alice';

const left = new Set<() => unknown>();
afterAll(async () => {
  await Promise.all([...left].map((stop) => stop()));
});

/** Starts the program as a user does, from another folder. */
function start(args: string, env: Record<string, string> = {}): RunningProcess {
  const program = { ...command(...args.split(' ').filter(Boolean)), env };
  const running = new RunningProcess(program, { cwd: tmpdir() });
  left.add(() => running.kill());
  return running;
}

/** Starts it, and waits until it listens. */
async function listening(args: string, env?: Record<string, string>) {
  const running = start(`${args} --http 0`, env);
  const address = await running.until(({ err }) => /^option .+, at (http:\S+)\n/m.exec(err)?.[1]);
  return { running, url: new URL(address) };
}

const METRIC = { action: 'accept' as const, content: { units: 'metric' } };

/** A client, and the errors that it reports, until the tests end. */
function watched<C extends { onerror?: unknown; close(): Promise<void> }>(client: C) {
  const errors: Error[] = [];
  client.onerror = (error: Error) => errors.push(error);
  left.add(() => client.close());
  return Object.assign(client, { errors });
}

const modern = async (transport: Parameters<typeof modernClient>[0]) =>
  watched(await modernClient(transport, { elicit: () => METRIC }, { fallback: true }));

const old = async (
  transport: Transport,
  elicit: () => typeof METRIC | Promise<typeof METRIC> = () => METRIC,
) => watched(await legacyClient(transport, { elicit }));

const TOKYO = { name: 'get_weather', arguments: { location: 'Tokyo' } };
const SUNNY = { content: [{ type: 'text', text: 'Weather in Tokyo: 22°C, partly cloudy.' }] };

const command = (...args: string[]) => ({ command: process.execPath, args: [RUN, 'serve', ...args] });
/** How a client starts the server, with its stderr ignored. */
const PLUGGED = { cwd: tmpdir(), stderr: 'ignore' } as const;

describe.concurrent('pnpm serve', { timeout: 30_000 }, () => {
  test('a modern client uses it over stdio, and reads only protocol messages', async () => {
    const client = await modern(new StdioClientTransport({ ...command('option-h'), ...PLUGGED }));
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect(await client.callTool(TOKYO)).toMatchObject(SUNNY);
    expect(client.errors).toEqual([]);
    await client.close();
  });

  test('an old client uses it over stdio, and is asked', async () => {
    const client = await old(new OldStdioTransport({ ...command('e'), ...PLUGGED }));
    expect(await client.callTool(TOKYO)).toMatchObject(SUNNY);
    expect(client.errors).toEqual([]);
    await client.close();
  });

  test('clients of both eras with a token use it over HTTP, others do not, and a signal ends it', async () => {
    const { running, url } = await listening('option-g --token-env TOKENS', {
      TOKENS: `alice=${TOKEN}`,
    });
    expect((await fetch(url)).status).toBe(401);
    const init = { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } };
    const clients = await Promise.all([
      modern(new StreamableHTTPClientTransport(url, init)),
      old(new OldHttpTransport(url, init) as Transport),
    ]);
    for (const client of clients) expect(await client.callTool(TOKYO)).toMatchObject(SUNNY);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(running.said.out).toBe('');
    expect(running.said.err.match(/MRTR_EPHEMERAL_KEY/g)).toHaveLength(1);
    expect(running.said.err).not.toContain(TOKEN);
  });

  test('with a key, it warns only of a missing ledger; a second signal does not wait for a call', async () => {
    const { running, url } = await listening('f --state-key-env KEY', { KEY: 'k'.repeat(32) });
    let ask = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const user = await old(new OldHttpTransport(url) as Transport, () => {
      ask();
      return new Promise(() => {});
    });
    const cut = user.callTool(TOKYO).catch(() => 'cut');
    await asked;
    running.child.kill('SIGINT');
    await refused(url);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(running.said.err.match(/\[MRTR_\w+\]/g)).toEqual(['[MRTR_REPEATABLE_STATE]']);
    await user.close();
    expect(await cut).toBe('cut');
  });

  test('it ends with the end of stdin', async () => {
    const running = start('option-a');
    running.child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\nnot json\n');
    expect(await running.ended).toBe(0);
    for (const line of running.said.out.split('\n').filter(Boolean))
      expect(JSON.parse(line).jsonrpc).toBe('2.0');
  });

  test('a signal ends it over stdio', async () => {
    const running = start('option-a');
    running.child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    await new Promise((resolve) => running.child.stdout?.once('data', resolve));
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(0);
    expect(running.said.err).toBe('');
  });
});

test('a port in use gives an error, and the exit code 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const err = `Cannot listen on 127.0.0.1, port ${port}: the port is in use. Take another one, or 0 for any that is free.\n`;
  expect(await run(`serve g --http ${port}`)).toEqual({ code: 1, out: '', err });
  other.close();
});

test('a key that is too short gives an error without the key, and the exit code 2', async () => {
  const { err, ...rest } = await run('serve g --state-key-env KEY', { env: { KEY: 'too-short' } });
  expect(rest).toEqual({ code: 2, out: '' });
  expect(err).toMatch(
    /^--state-key-env: keys\[0\] has 9 bytes\. .+ `openssl rand -base64 32`\.\nMore: pnpm serve --help\n$/,
  );
});

// DBOS creates its tables, which takes seconds on a busy machine.
describe('pnpm serve option-h --store postgres', { timeout: 90_000 }, () => {
  testOnPostgres('another process with the database and the keys resumes a call', async () => {
    const env = { MRTR_POSTGRES: await database(), KEYS: 'k'.repeat(32) };
    const first = await listening('h --store postgres --state-key-env KEYS', env);
    const { requestState, ...asked } = await round(first.url, {});
    expect(asked).toMatchObject({ resultType: 'input_required' });
    first.running.child.kill('SIGTERM');
    expect(await first.running.ended).toBe(0);
    const second = await listening('h --store postgres --state-key-env KEYS', env);
    const answer = { inputResponses: { units: METRIC }, requestState };
    expect(await round(second.url, answer)).toMatchObject(SUNNY);
    expect(await round(second.url, answer)).toMatchObject(SUNNY);
    second.running.child.kill('SIGTERM');
    expect(await second.running.ended).toBe(0);
    const { host, pathname } = new URL(env.MRTR_POSTGRES);
    expect([first, second].map(({ running }) => running.said.err)).toEqual(
      [first, second].map(
        ({ url }) => `PostgreSQL at ${host}${pathname}.\noption H on PostgreSQL, at ${url}\n`,
      ),
    );
  });
});

/** One round of a call that asks for the units, as a modern client makes it. */
const round = async (url: URL, retry: object) =>
  (await poster(url)('tools/call', { ...TOKYO, ...retry })).result as Record<string, unknown>;

/** Resolves when no server listens at `url` any more. */
async function refused(url: URL): Promise<void> {
  const up = () => fetch(new URL('/healthz', url), { headers: { connection: 'close' } });
  for (;;) {
    const gone = await up().then(
      () => false,
      () => true,
    );
    if (gone) return;
  }
}
