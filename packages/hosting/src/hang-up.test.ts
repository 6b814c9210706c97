/**
 * The signal of a handler whose client hangs up. At 2026-07-28 a hang-up cancels the call (basic/patterns/cancellation);
 * at 2025-11-25 it does not. The SDK and `@hono/node-server` see to that when a response emits `close`. Hosting emits it
 * where Node does not.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { ServerContext } from '@mrtr/core';
import { requestInit, settle, until } from '@mrtr/harness/internal';
import { expect, test, vi } from 'vitest';
import { hosting, httpText, oldRequest, openSocket, withHeaders } from './hosting.test-support.ts';
import { REQUEST_BYTES } from './limits.ts';
import { waiting } from './waiting.test-support.ts';

/** A connection. `post` sends a request on it; `received` holds the responses. */
async function connection(url: URL, header = 'keep-alive') {
  const socket = openSocket(url);
  const received: string[] = [];
  socket.on('data', (chunk) => received.push(`${chunk}`));
  await once(socket, 'connect');
  const post = (init: RequestInit) => socket.write(httpText(url, withHeaders(init, { connection: header })));
  return { socket, post, received: () => received.join('') };
}

/** Resolves with the reason when the signal has fired. */
async function reasonOf({ mcpReq: { signal } }: ServerContext): Promise<unknown> {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason;
}

const CLOSED = expect.objectContaining({ code: 'CONNECTION_CLOSED', message: 'Connection closed' });
const HANG_UPS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'breaks off': (socket) => socket.destroy(),
  'sends no more': (socket) => socket.end(),
  resets: (socket) => socket.resetAndDestroy(),
};
const CASES = ['wait', 'stream'].flatMap((tool) =>
  ['keep-alive', 'close'].flatMap((header) =>
    Object.keys(HANG_UPS).map((how) => [tool, header, how] as const),
  ),
);
expect(CASES).toHaveLength(12);

test.each(CASES)(
  'the signal fires when a new client of `%s` hangs up: %s, it %s',
  async (name, header, how) => {
    const { url, entered } = await hosting();
    const { socket, post, received } = await connection(url, header);
    post(requestInit('tools/call', { name }));
    const handler = await entered;
    // `stream` has begun its event stream; `wait` has not begun a response.
    if (name === 'stream')
      await until(() => received().includes('notifications/progress'), 'the beginning of the stream');
    expect(received().includes('text/event-stream')).toBe(name === 'stream');
    expect(handler.mcpReq.signal.aborted).toBe(false);
    HANG_UPS[how]?.(socket);
    expect(await reasonOf(handler)).toEqual(CLOSED);
  },
);

test.each(CASES)(
  'the signal stays when an old client of `%s` hangs up: %s, it %s',
  async (name, header, how) => {
    const { url, enters, session, nextEntry, release, http, errors } = await waiting();
    const id = await session();
    const { socket, post } = await connection(url, header);
    const entry = nextEntry();
    post(oldRequest('tools/call', { name }, id));
    const handler = await entry;
    HANG_UPS[how]?.(socket);
    await once(socket, 'close');
    // When a later call has begun, the server has noticed the end of the connection.
    expect(await enters(requestInit('tools/call', { name: 'wait' }))).toBe('entered');
    await settle();
    expect(handler.mcpReq.signal.aborted).toBe(false);
    release();
    await until(() => errors.length > 0, 'the undeliverable result');
    // The handler has finished, and its result could not be delivered.
    expect(errors).toEqual([expect.stringContaining('undeliverable')]);
    await http.close();
  },
);

test('calls that a new client sent on one connection at once end together when it hangs up', async () => {
  const { url, nextEntry, enters, errors } = await waiting({
    limits: { bytes: 5 * REQUEST_BYTES, bodyBytes: 5000, perPrincipal: 1 },
  });
  const { socket, post } = await connection(url);
  const handlers: ServerContext[] = [];
  for (let id = 1; id <= 3; id++) {
    const entry = nextEntry();
    post(requestInit('tools/call', { name: 'wait' }, { id }));
    handlers.push(await entry);
  }
  // Its response waits for the earlier ones.
  post(requestInit('tools/call', { name: 'who' }, { id: 4 }));
  await vi.waitFor(
    async () => expect((await fetch(url, requestInit('tools/call', { name: 'who' }))).status).toBe(503),
    10_000,
  );
  socket.destroy();
  for (const handler of handlers) expect(await reasonOf(handler)).toEqual(CLOSED);
  await settle(2);
  for (let n = 0; n < 4; n++)
    expect(await enters(requestInit('tools/call', { name: 'wait' }))).toBe('entered');
  expect(errors).toEqual([]);
});
