import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, test } from 'vitest';
import { command, listening, modern, old, PLUGGED, SUNNY, TOKYO } from './serve.test-support.ts';
import { run } from './terminal.test-support.ts';

const TOKEN = 'the-token-of-alice';

describe.concurrent('pnpm serve', () => {
  test('a modern client uses it over stdio, and reads only protocol messages', async () => {
    const client = await modern(new StdioClientTransport({ ...command('option-h'), ...PLUGGED }));
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
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
    expect(running.output.out).toBe('');
    expect(running.output.err.match(/MRTR_EPHEMERAL_KEY/g)).toHaveLength(1);
    expect(running.output.err).not.toContain(TOKEN);
  });
});

test('a port in use gives an error, and the exit code 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const err = `Cannot listen on port ${port}: the port is in use. Take another one, or 0 for any that is free.\n`;
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
