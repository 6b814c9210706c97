import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { postgresServer } from '@mrtr/postgres-server';
import { afterAll, describe, expect, test } from 'vitest';

const RUN = fileURLToPath(new URL('../run.mjs', import.meta.url));
const TOKEN = 'the-token-of-alice';

const left = new Set<() => unknown>();
afterAll(async () => {
  await Promise.all([...left].map((stop) => stop()));
});

/** Starts the program as a user does, from somewhere else. */
function start(args: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [RUN, 'serve', ...args.split(' ').filter(Boolean)], {
    cwd: tmpdir(),
    env: { ...process.env, ...env },
  });
  left.add(() => child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, said, ended };
}

/** Starts it, and waits until it listens. */
async function listening(args: string, env?: Record<string, string>) {
  const started = start(`${args} --http 0`, env);
  const url = await new Promise<URL>((resolve, reject) => {
    started.child.stderr?.on('data', () => {
      const address = /^option .+, at (http:\S+)\n/m.exec(started.said.err)?.[1];
      if (address !== undefined) resolve(new URL(address));
    });
    void started.ended.then(() => reject(new Error(started.said.err)));
  });
  return { ...started, url };
}

const INFO = { name: 'plugged in', version: '1.0.0' };
const METRIC = { action: 'accept' as const, content: { units: 'metric' } };

async function modern(transport: Parameters<Client['connect']>[0]) {
  const capabilities = { elicitation: {} };
  const client = new Client(INFO, { capabilities, versionNegotiation: { mode: 'auto' } });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  client.setRequestHandler('elicitation/create', () => METRIC);
  await client.connect(transport);
  left.add(() => client.close());
  return Object.assign(client, { errors });
}

async function old(
  transport: Transport,
  answer: () => typeof METRIC | Promise<typeof METRIC> = () => METRIC,
) {
  const client = new OldClient(INFO, { capabilities: { elicitation: {} } });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  client.setRequestHandler(ElicitRequestSchema, answer);
  await client.connect(transport);
  left.add(() => client.close());
  return Object.assign(client, { errors });
}

const TOKYO = { name: 'get_weather', arguments: { location: 'Tokyo' } };
const SUNNY = { content: [{ type: 'text', text: 'Weather in Tokyo: 22°C, partly cloudy.' }] };

const command = (option: string) => ({
  command: process.execPath,
  args: [RUN, 'serve', option],
  cwd: tmpdir(),
  stderr: 'ignore' as const,
});

describe.concurrent('pnpm serve', { timeout: 30_000 }, () => {
  test('a modern client plugs it in over stdio, and reads nothing but protocol', async () => {
    const client = await modern(new StdioClientTransport(command('option-h')));
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect(await client.callTool(TOKYO)).toMatchObject(SUNNY);
    expect(client.errors).toEqual([]);
    await client.close();
  });

  test('an old client plugs it in over stdio, and is asked', async () => {
    const client = await old(new OldStdioTransport(command('e')));
    expect(await client.callTool(TOKYO)).toMatchObject(SUNNY);
    expect(client.errors).toEqual([]);
    await client.close();
  });

  test('clients of both eras with a token use it over HTTP, others do not, and a signal ends it', async () => {
    const { child, said, ended, url } = await listening('option-g --token-env TOKENS', {
      TOKENS: `alice=${TOKEN}`,
    });
    expect((await fetch(url)).status).toBe(401);
    const init = { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } };
    const clients = await Promise.all([
      modern(new StreamableHTTPClientTransport(url, init)),
      old(new OldHttpTransport(url, init) as Transport),
    ]);
    for (const client of clients) expect(await client.callTool(TOKYO)).toMatchObject(SUNNY);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(said.out).toBe('');
    expect(said.err.match(/MRTR_EPHEMERAL_KEY/g)).toHaveLength(1);
    expect(said.err).not.toContain(TOKEN);
  });

  test('with a key, nothing is warned of; a second signal does not wait for a call', async () => {
    const { child, said, ended, url } = await listening('f --state-key-env KEY', { KEY: 'k'.repeat(32) });
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
    child.kill('SIGINT');
    await refused(url);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(said.err).not.toContain('Warning');
    await user.close();
    expect(await cut).toBe('cut');
  });

  test('the end of stdin is the end of it', async () => {
    const { child, said, ended } = start('option-a');
    child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\nnot json\n');
    expect(await ended).toBe(0);
    for (const line of said.out.split('\n').filter(Boolean)) expect(JSON.parse(line).jsonrpc).toBe('2.0');
  });

  test('a signal ends it over stdio', async () => {
    const { child, said, ended } = start('option-a');
    child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(said.err).toBe('');
  });

  test('a port that is taken is said so, with the exit code 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const { said, ended } = start(`g --http ${port}`);
    const code = await ended;
    other.close();
    expect({ code, ...said }).toEqual({
      code: 1,
      out: '',
      err: `Cannot listen on 127.0.0.1, port ${port}: the port is in use. Take another one, or 0 for any that is free.\n`,
    });
  });

  test('a key that is too short is said so, with the exit code 2 and without the key', async () => {
    const { said, ended } = start('g --state-key-env KEY', { KEY: 'too-short' });
    expect({ code: await ended, out: said.out }).toEqual({ code: 2, out: '' });
    expect(said.err).toMatch(
      /^--state-key-env: keys\[0\] has 9 bytes; .+ `openssl rand -base64 32`\.\nMore: pnpm serve --help\n$/,
    );
  });
});

// A PostgreSQL starts, and DBOS makes its tables: seconds, on a busy machine.
describe('pnpm serve option-h --store postgres', { timeout: 90_000 }, () => {
  test('goes on in another process with the database and the keys', async () => {
    const server = await postgresServer(process.env.MRTR_TEST_POSTGRES);
    left.add(() => server.stop());
    const env = { MRTR_POSTGRES: await server.database(), KEYS: 'k'.repeat(32) };
    const first = await listening('h --store postgres --state-key-env KEYS', env);
    const { requestState, ...asked } = await round(first.url, {});
    expect(asked).toMatchObject({ resultType: 'input_required' });
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    const second = await listening('h --store postgres --state-key-env KEYS', env);
    const answer = { inputResponses: { units: METRIC }, requestState };
    expect(await round(second.url, answer)).toMatchObject(SUNNY);
    expect(await round(second.url, answer)).toMatchObject(SUNNY);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    const { host, pathname } = new URL(env.MRTR_POSTGRES);
    expect([first, second].map(({ said }) => said.err)).toEqual(
      [first, second].map(
        ({ url }) => `PostgreSQL at ${host}${pathname}.\noption H on PostgreSQL, at ${url}\n`,
      ),
    );
  });

  test('serves on a PostgreSQL that is started for it, with a key that nobody has to give', async () => {
    const client = await modern(
      new StdioClientTransport({
        ...command('h'),
        args: [...command('h').args, '--store', 'postgres'],
      }),
    );
    expect(await client.callTool(TOKYO)).toMatchObject(SUNNY);
    expect(client.errors).toEqual([]);
    await client.close();
  });
});

/** One round of a call that asks for the units, as a modern client makes it. */
async function round(url: URL, retry: object): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': TOKYO.name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        ...TOKYO,
        ...retry,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
        },
      },
    }),
  });
  const text = await response.text();
  return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text).result;
}

/** Resolves when nothing listens at `url` any more. */
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
