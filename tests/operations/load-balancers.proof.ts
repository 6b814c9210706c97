/** Clients of both eras through nginx and HAProxy, with the configurations of docs/operating.md. */
import { requestInit } from '@mrtr/harness/internal';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  beginSession,
  hosting,
  modernClient,
  oldClient,
  oldRequest,
  read,
} from '../../packages/hosting/src/hosting.test-support.ts';
import { readConfiguration, startNginx, startRouter } from './routers.test-support.ts';

const ROUTERS = {
  nginx: { count: 2, start: startNginx },
  HAProxy: {
    count: 3,
    start: async (addresses: readonly string[]) => startRouter(await readConfiguration(), addresses),
  },
};

describe.each(Object.entries(ROUTERS))('%s', (_, { count, start }) => {
  async function site() {
    const instances = await Promise.all(Array.from({ length: count }, () => hosting({ drainSeconds: 10 })));
    const router = await start(instances.map((instance) => instance.url.host));
    onTestFinished(() => router.close());
    const begin = () => beginSession(router.url);
    const of = (name: string) => instances[Number(name[1]) - 1] as Awaited<ReturnType<typeof hosting>>;
    return { url: router.url, instances, begin, of };
  }
  const ask = { name: 'ask', arguments: {} };
  const ASKS = { result: { resultType: 'input_required' } };
  const ASKED = { content: [{ type: 'text', text: 'Asked.' }] };

  test('old clients are asked in their sessions, which every instance has', async () => {
    const { url, instances } = await site();
    const sessions = instances.map((instance) => vi.spyOn(instance, 'server'));
    const clients = await Promise.all(Array.from({ length: 6 }, () => oldClient(url)));
    const calls = clients.flatMap((client) => [client.callTool(ask), client.callTool(ask)]);
    for (const result of await Promise.all(calls)) expect(result).toEqual(ASKED);
    for (const { asked } of clients) expect(asked).toEqual(['Well?', 'Well?']);
    expect(sessions.map(({ mock }) => mock.calls.length)).toEqual(Array(count).fill(6 / count));
  });

  test('a session of another instance, or of none, is not found', async () => {
    const { url, begin } = await site();
    const session = await begin();
    expect(session).toMatch(/^i[12]\.[0-9a-f-]{36}$/);
    const tools = async (id: string) => (await fetch(url, oldRequest('tools/list', {}, id))).status;
    expect(await tools(session)).toBe(200);
    const id = session.slice(3);
    const others = [
      session.startsWith('i1') ? `i2.${id}` : `i1.${id}`,
      id,
      'i1.',
      'i9.x',
      '127.0.0.1:22',
      'mcp',
    ];
    for (const other of others) expect([other, await tools(other)]).toEqual([other, 404]);
  });

  test('the rounds of a new client go to all instances', async () => {
    const { url, instances } = await site();
    const requests = instances.map((instance) => vi.spyOn(instance, 'server'));
    const client = await modernClient(url);
    for (let call = 0; call < 4; call++) expect(await client.callTool(ask)).toMatchObject(ASKED);
    for (const { mock } of requests) expect(mock.calls.length).toBeGreaterThan(1);
  });

  test.each([true, false])('a stream flows before its call ends (old client: %s)', async (isOld) => {
    const { url, instances, begin } = await site();
    const stream = { name: 'stream', arguments: {} };
    const init = isOld ? oldRequest('tools/call', stream, await begin()) : requestInit('tools/call', stream);
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(60_000) });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toContain('notifications/progress');
    for (const instance of instances) instance.release();
    await reader.cancel();
  });

  test('a new client that hangs up cancels its call', async () => {
    const { url, instances } = await site();
    const hangUp = new AbortController();
    const wait = requestInit('tools/call', { name: 'wait', arguments: {} });
    const call = fetch(url, { ...wait, signal: hangUp.signal }).catch(() => 'hung up');
    const { mcpReq } = await Promise.race(instances.map(({ entered }) => entered));
    hangUp.abort();
    await vi.waitFor(() => expect(mcpReq.signal.aborted).toBe(true), { timeout: 60_000 });
    expect(await call).toBe('hung up');
  });

  test('an instance that closes fails no call of a new client, and an old one begins a new session', async () => {
    const { url, begin, of } = await site();
    const call = async () => {
      expect(await read(await fetch(url, requestInit('tools/call', ask)))).toMatchObject(ASKS);
    };
    // Call at once, so that the router has connections to every instance that it could reuse.
    const callAll = () => Promise.all(Array.from({ length: 12 }, call));
    await callAll();
    const session = await begin();
    const instance = of(session);
    const running = fetch(url, oldRequest('tools/call', { name: 'wait', arguments: {} }, session));
    await instance.entered;
    const closed = instance.http.close();
    await callAll();
    instance.release();
    expect(await read(await running)).toMatchObject({ result: { content: [{ text: 'Waited.' }] } });
    await closed;
    const { status } = await fetch(url, oldRequest('tools/list', {}, session));
    expect(status).toBe(404);
    expect((await begin()).slice(0, 2)).not.toBe(session.slice(0, 2));
  });
});
