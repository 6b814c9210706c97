import { expect, onTestFinished, test, vi } from 'vitest';
import { WebOutgoing, whenSent } from './exchange.ts';
import { fixture, INITIALIZE, oldMessage, oldRequest, read, withHeaders } from './hosting.test-support.ts';
import { type Limits, MOUNT_LIMITS } from './limits.ts';
import { makeSessions } from './sessions.ts';

function sessions(limits: Partial<Limits> = {}) {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const served = fixture();
  const held = makeSessions(served, { ...MOUNT_LIMITS, ...limits }, served.onerror);
  onTestFinished(async () => {
    served.release();
    await held.close();
    vi.useRealTimers();
  });
  const send = async (init: RequestInit, principal?: string) => {
    const request = new Request('http://localhost/mcp', init);
    const body = init.body ? { json: JSON.parse(`${init.body}`), bytes: 0 } : undefined;
    const outgoing = new WebOutgoing();
    const response = await held.handle({ request, outgoing, body, authInfo: undefined, principal });
    return whenSent(request, response, () => outgoing.destroy());
  };
  const begin = async () => {
    const response = await send(INITIALIZE);
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  return { served, held, send, begin };
}

/** Advances the clock, so that the sweep ends idle sessions. */
const hours = (count: number) => vi.advanceTimersByTimeAsync(count * 3_600_000);

test('a session that is idle too long is closed', async () => {
  const { held, send, begin } = sessions();
  const [idle, used] = [await begin(), await begin()];
  await hours(0.9);
  await (await send(oldRequest('tools/list', {}, used))).text();
  await hours(0.9);
  expect(held.size).toBe(1);
  expect((await send(oldRequest('tools/list', {}, idle))).status).toBe(404);
  expect((await send(oldRequest('tools/list', {}, used))).status).toBe(200);
});

test('an error that holds a message of the client is short', async () => {
  const { served, send, begin } = sessions();
  const result = { text: 'x'.repeat(100_000) };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'unknown', result });
  await send({ ...oldRequest('ping', {}, await begin()), body });
  expect(served.errors).toEqual([
    expect.stringMatching(/^Received a response .{1900,2000}… \(100\d+ characters\)$/),
  ]);
});

test('a client that leaves makes its session idle when its call has ended, and not before', async () => {
  const { served, held, send, begin } = sessions();
  const client = new AbortController();
  await send({ ...oldRequest('tools/call', { name: 'wait' }, await begin()), signal: client.signal });
  const { mcpReq } = await served.entered;
  client.abort();
  // At 2025-11-25 a lost connection cancels nothing: the client may come back.
  expect(mcpReq.signal.aborted).toBe(false);
  await hours(5);
  expect([held.size, mcpReq.signal.aborted]).toEqual([1, false]);
  served.release();
  await hours(0.9);
  expect(held.size).toBe(1);
  await hours(0.2);
  expect([held.size, mcpReq.signal.aborted]).toEqual([0, false]);
});

test('a client that loses its standing stream makes its session idle', async () => {
  const { held, send, begin } = sessions();
  const client = new AbortController();
  const headers = { accept: 'text/event-stream', 'mcp-session-id': await begin() };
  const stream = await send({ headers, signal: client.signal });
  expect(stream.status).toBe(200);
  await hours(5);
  expect(held.size).toBe(1);
  client.abort();
  await hours(1.1);
  expect(held.size).toBe(0);
});

test('sessions are limited, even if clients begin at the same time', async () => {
  const { held, send } = sessions({ sessions: 2 });
  const begun = await Promise.all([send(INITIALIZE), send(INITIALIZE), send(INITIALIZE)]);
  expect(begun.map(({ status }) => status)).toEqual([200, 200, 503]);
  expect(held.size).toBe(2);
  const session = begun[0]?.headers.get('mcp-session-id') ?? '';
  await send({ method: 'DELETE', headers: { 'mcp-session-id': session } });
  expect((await send(INITIALIZE)).status).toBe(200);
});

test('a server that cannot be built holds no session', async () => {
  const { served, held, send } = sessions({ sessions: 1 });
  served.server = () => {
    throw new Error('no');
  };
  await expect(send(INITIALIZE)).rejects.toThrow('no');
  expect(held.size).toBe(0);
});

test('the sessions of one principal are limited, and others are still served', async () => {
  const { send } = sessions({ sessions: 32 });
  const statuses = ['ada', 'ada', 'ada', 'bob'].map(async (sub) => (await send(INITIALIZE, sub)).status);
  expect(await Promise.all(statuses)).toEqual([200, 200, 429, 200]);
  expect((await read(await send(INITIALIZE, 'ada'))).error).toMatchObject({
    message: 'You have too many sessions; end one, or try again later',
  });
});

/** An `initialize` of about `bytes`. */
const initializeOf = (bytes: number, clientInfo: object = {}) =>
  oldRequest('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { experimental: { x: { y: 'y'.repeat(bytes) } } },
    clientInfo: { name: 'by hand', version: '1.0.0', ...clientInfo },
  });

test('large initializes of one principal hold no more bytes than it may, and others begin', async () => {
  const { held, send } = sessions();
  expect(await read(await send(initializeOf(16_384), 'ada'))).toMatchObject({
    status: 413,
    error: { message: 'A session keeps at most 16384 bytes of its initialize; declare less' },
  });
  const statuses: number[] = [];
  for (let n = 0; n < 64; n++) statuses.push((await send(initializeOf(16_000), 'ada')).status);
  expect(statuses).toEqual([...Array(62).fill(200), ...Array(2).fill(429)]);
  expect((await send(INITIALIZE, 'bob')).status).toBe(200);
  expect(held.size).toBe(63);
});

test('sessions that end give back their places', async () => {
  const { send } = sessions({ sessions: 1 });
  for (let n = 0; n < 3; n++) {
    const begun = await send(INITIALIZE);
    expect(begun.status).toBe(200);
    expect((await send(INITIALIZE)).status).toBe(503);
    const session = begun.headers.get('mcp-session-id') ?? '';
    // The second end has nothing to give back.
    for (let end = 0; end < 2; end++) {
      await send({ method: 'DELETE', headers: { 'mcp-session-id': session } });
    }
  }
  const deaf = { ...INITIALIZE, headers: { 'content-type': 'application/json', accept: 'text/html' } };
  for (let n = 0; n < 3; n++) expect((await send(deaf)).status).toBe(406);
  const begun = await send(INITIALIZE);
  expect(begun.status).toBe(200);
  // A session with an unread answer is not idle.
  await begun.text();
  await hours(1.1);
  expect((await send(INITIALIZE)).status).toBe(200);
});

test('a session keeps what its client can do and its name, and no icons', async () => {
  const { served, send } = sessions({ sessions: 1 });
  const made = vi.spyOn(served, 'server');
  const icons = [{ src: `data:image/png;base64,${'A'.repeat(60_000)}` }];
  expect((await send(initializeOf(10, { title: 'By hand', icons }))).status).toBe(200);
  const { server } = made.mock.results[0]?.value ?? {};
  expect(server.getClientVersion()).toEqual({ name: 'by hand', version: '1.0.0', title: 'By hand' });
  expect(server.getClientCapabilities()).toEqual({ experimental: { x: { y: 'y'.repeat(10) } } });
});

/** A session whose calls to `ask` wait for their user. */
async function asking() {
  const { send, begin, ...rest } = sessions();
  const session = await begin();
  const call = (id: number) => send(oldRequest('tools/call', { name: 'ask' }, session, id));
  const tell = (message: Record<string, unknown>) => send(oldMessage(message, session));
  return { ...rest, send, session, call, tell };
}

/** The next event of a stream. */
async function next(reader: ReadableStreamDefaultReader<Uint8Array> | undefined) {
  const { value } = (await reader?.read()) ?? {};
  return JSON.parse(/^data: (.+)$/m.exec(new TextDecoder().decode(value))?.[1] ?? 'null');
}

test('a second call with the id of an open one is rejected, since it would not count', async () => {
  const { call, tell } = await asking();
  const events = (await call(1)).body?.getReader();
  const question = await next(events);
  expect(await read(await call(1))).toMatchObject({
    status: 400,
    error: { message: 'A call with this id is open' },
  });
  expect((await tell({ id: question.id, result: { action: 'accept', content: {} } })).status).toBe(202);
  expect(await next(events)).toMatchObject({ id: 1, result: { content: [{ text: 'Asked.' }] } });
  expect((await call(1)).status).toBe(200);
});

test('a cancelled call ends, and its question is withdrawn', async () => {
  const { call, tell } = await asking();
  const events = (await call(1)).body?.getReader();
  await next(events);
  await tell({ method: 'notifications/cancelled', params: { requestId: 1, reason: 7 } });
  await new Promise((resolve) => setImmediate(resolve));
  expect((await call(1)).status).toBe(400);
  await tell({ method: 'notifications/cancelled', params: { requestId: 1 } });
  expect(await next(events)).toMatchObject({ method: 'notifications/cancelled' });
  expect(await events?.read()).toMatchObject({ done: true });
  expect((await call(1)).status).toBe(200);
});

test('the id of a cancelled call cannot be taken before its handler has settled', async () => {
  const { served, send, session, tell } = await asking();
  const wait = () => send(oldRequest('tools/call', { name: 'wait' }, session, 1));
  expect((await wait()).status).toBe(200);
  await served.entered;
  await tell({ method: 'notifications/cancelled', params: { requestId: 1 } });
  await new Promise((resolve) => setImmediate(resolve));
  expect((await wait()).status).toBe(400);
  served.release();
  await new Promise((resolve) => setImmediate(resolve));
  expect((await wait()).status).toBe(200);
});

test('the SDK forgets a call that was cancelled, and nobody hears of a response that went nowhere', async () => {
  const { served, send, begin } = sessions();
  const made = vi.spyOn(served, 'server');
  const session = await begin();
  const call = await send(oldRequest('tools/call', { name: 'wait' }, session, 7));
  await served.entered;
  await send(oldMessage({ method: 'notifications/cancelled', params: { requestId: 7 } }, session));
  served.release();
  expect(await call.text()).not.toContain('"id":7');
  const { transport } = made.mock.results[0]?.value.server ?? {};
  const response = { jsonrpc: '2.0', id: 7, result: {} };
  await expect(transport.send(response)).rejects.toThrow('No connection established for request ID: 7');
  expect(served.errors).toEqual([]);
});

test('calls that are answered or rejected at once are not open', async () => {
  const { send, session } = await asking();
  const list = oldRequest('tools/list', {}, session);
  for (const headers of [{ accept: 'text/html' }, { 'mcp-protocol-version': '1999-01-01' }]) {
    expect((await send(withHeaders(list, headers))).ok).toBe(false);
    expect((await read(await send(list))).result).toHaveProperty('tools');
  }
});
