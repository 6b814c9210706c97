/** What stores and hostings hold, as metrics read it, and the refusals of HTTP. */
import { elicitation, protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { processWide, readGauges } from '@mrtr/core/kit';
import { InProcess } from '@mrtr/harness';
import { serveHttp } from '@mrtr/hosting/http';
import { MemoryInteractions } from '@mrtr/pages';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

// Other tests of this process may have left frames and streams.
beforeEach(() => processWide('gauges.1', () => ({ sources: new Set() })).sources.clear());

const served = (store = new ContinuationStore()) => {
  const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse: false });
  const count = elicitation('How many?', z.object({ count: z.string() }));
  const server = () => {
    const one = protectedServer({ name: 'shop', version: '1' }, policy);
    const order = linear(async (_: object, ctx) => textResult((await ctx.ask('count', count)).count), {
      store,
    });
    one.registerTool('order', { inputSchema: z.object({}) }, order);
    return one;
  };
  return { server, close: () => store.close() };
};

test('a handler that waits is a parked frame until its answer comes', async () => {
  const site = served();
  const face = new InProcess(site.server);
  onTestFinished(() => face.close());
  const call = { name: 'order', arguments: {} };
  const { result } = await face.post('tools/call', call);
  expect(readGauges()['frames.parked']).toBe(1);
  const inputResponses = { count: { action: 'accept', content: { count: '3' } } };
  await face.post('tools/call', { ...call, requestState: result?.requestState, inputResponses });
  expect(readGauges()['frames.parked']).toBe(0);
});

test('a page is pending until it is over, or its time is', async () => {
  let now = 0;
  const store = new MemoryInteractions({ now: () => now });
  const page = { pseudonym: 'ada', value: 'v', ttlSeconds: 60 };
  for (const id of ['a', 'b', 'c']) await store.add({ ...page, id });
  await store.replace('a', 'v', 'w', { ...page, isOver: true });
  expect(readGauges()['pages.pending']).toBe(2);
  now = 60_000;
  expect(readGauges()['pages.pending']).toBe(0);
});

test('sessions, streams and the refusals of a hosting are counted', async () => {
  const reasons: string[] = [];
  onTestFinished(observe('mrtr:refusal', ({ reason }) => reasons.push(reason)));
  const hosting = await serveHttp(served(), { port: 0 });
  onTestFinished(() => hosting.close());
  const post = (message: string, headers = {}) =>
    fetch(hosting.url, {
      method: 'POST',
      body: message,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    });
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'old', version: '1' },
  };
  const begun = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
  await begun.text();
  const session = { 'mcp-session-id': String(begun.headers.get('mcp-session-id')) };
  const over = new AbortController();
  await fetch(hosting.url, { headers: { ...session, accept: 'text/event-stream' }, signal: over.signal });
  await expect.poll(readGauges).toMatchObject({ sessions: 1, streams: 1 });
  over.abort();
  await expect.poll(readGauges).toMatchObject({ streams: 0, 'streams.unread_bytes': 0 });
  const statuses = [
    await post(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }), {
      'mcp-session-id': 'nobody',
    }),
    await post('{'),
    await post('{}', { origin: 'https://evil.example' }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([404, 400, 403]);
  expect(reasons).toEqual(['http_no_session', 'http_invalid', 'http_forbidden_origin']);
});
