import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { legacyClient, modernClient } from '@mrtr/harness';
import { describe, expect, test } from 'vitest';
import { command, left, listening, METRIC, SUNNY, start, TOKYO } from './serve.test-support.ts';
import { run } from './terminal.test-support.ts';

const TOKEN = 'the-token-of-alice';

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
