/** The gauges of stores and hostings, and the rejections of HTTP. */
import { textResult } from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { processWide, readGauges } from '@mrtr/core/internal';
import { MemoryInteractions } from '@mrtr/pages';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  beginSession,
  hosting,
  oldRequest,
  withHeaders,
} from '../../packages/hosting/src/hosting.test-support.ts';
import { metric, Units } from '../../packages/shapes/src/fixture.test-support.ts';
import { parking } from '../../packages/shapes/src/linear/parking.test-support.ts';

// Other tests of this process may have left frames and streams.
beforeEach(() => processWide('gauges.1', () => ({ sources: new Set() })).sources.clear());

test('a handler that waits is a parked frame until its answer comes', async () => {
  const { client } = await parking(async (_, { elicit }) =>
    textResult((await elicit('Which units?', Units)).units),
  );
  const asked = await client.send();
  expect(readGauges()['frames.parked']).toBe(1);
  await client.answer(asked, { units: metric });
  expect(readGauges()['frames.parked']).toBe(0);
});

test('a page is pending until it is over, or its time is', async () => {
  let now = 0;
  const store = new MemoryInteractions({ now: () => now });
  const page = { pseudonym: 'ada', value: 'v', ttlSeconds: 60 };
  for (const id of ['a', 'b', 'c']) await store.add({ ...page, id });
  await store.replace({ ...page, id: 'a', value: 'w' }, 'v', true);
  expect(readGauges()['pages.pending']).toBe(2);
  now = 60_000;
  expect(readGauges()['pages.pending']).toBe(0);
});

test('sessions, streams and the rejections of a hosting are counted', async () => {
  const reasons: string[] = [];
  onTestFinished(observe('mrtr:rejection', ({ detail }) => reasons.push(`${detail}`)));
  const { url } = await hosting();
  const headers = { 'mcp-session-id': await beginSession(url), accept: 'text/event-stream' };
  const over = new AbortController();
  await fetch(url, { headers, signal: over.signal });
  await expect.poll(readGauges).toMatchObject({ sessions: 1, streams: 1 });
  over.abort();
  await expect.poll(readGauges).toMatchObject({ streams: 0, 'streams.unread_bytes': 0 });
  const list = oldRequest('tools/list');
  for (const [init, status] of [
    [oldRequest('tools/list', {}, 'nobody'), 404],
    [{ ...list, body: '{' }, 400],
    [withHeaders(list, { origin: 'https://evil.example' }), 403],
  ] as const)
    expect((await fetch(url, init)).status).toBe(status);
  expect(reasons).toEqual(['http_no_session', 'http_invalid', 'http_forbidden_origin']);
});
