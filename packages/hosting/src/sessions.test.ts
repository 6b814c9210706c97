import { expect, onTestFinished, test, vi } from 'vitest';
import { fixture, INITIALIZE, oldRequest, read } from './hosting.test-support.ts';
import { Sessions } from './sessions.ts';

function sessions(max = 10) {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const served = fixture();
  const held = new Sessions(served, { max, idleSeconds: 3600 }, served.onerror);
  onTestFinished(async () => {
    served.release();
    await held.close();
    vi.useRealTimers();
  });
  const send = (init: RequestInit) => {
    const body = init.body ? JSON.parse(`${init.body}`) : undefined;
    return held.handle(new Request('http://localhost/mcp', init), body, undefined);
  };
  const begin = async () => {
    const response = await send(INITIALIZE);
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  return { served, held, send, begin };
}

/** Lets idle sessions be found, and the sweep finish. */
const hours = (count: number) => vi.advanceTimersByTimeAsync(count * 3_600_000);

test('a session that is idle for too long is closed', async () => {
  const { held, send, begin } = sessions();
  const [idle, used] = [await begin(), await begin()];
  await hours(0.9);
  await (await send(oldRequest('tools/list', {}, used))).text();
  await hours(0.9);
  expect(held.size).toBe(1);
  expect((await send(oldRequest('tools/list', {}, idle))).status).toBe(404);
  expect((await send(oldRequest('tools/list', {}, used))).status).toBe(200);
});

test('a session with a call under way is not idle', async () => {
  const { served, held, send, begin } = sessions();
  const call = await send(oldRequest('tools/call', { name: 'wait' }, await begin()));
  await hours(5);
  expect(held.size).toBe(1);
  served.release();
  expect((await read(call)).result).toMatchObject({ content: [{ text: 'Waited.' }] });
  await hours(1.1);
  expect(held.size).toBe(0);
});

test('a client that goes away leaves an idle session, and its call goes on until the session ends', async () => {
  const { served, held, send, begin } = sessions();
  const client = new AbortController();
  await send({ ...oldRequest('tools/call', { name: 'wait' }, await begin()), signal: client.signal });
  const { mcpReq } = await served.entered;
  client.abort();
  // At 2025-11-25 a lost connection cancels nothing: the client may come back.
  expect(mcpReq.signal.aborted).toBe(false);
  await hours(1.1);
  expect(held.size).toBe(0);
  expect(mcpReq.signal.aborted).toBe(true);
});

test('a client whose standing stream is lost leaves an idle session', async () => {
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

test('there are at most so many sessions, also where clients begin together', async () => {
  const { held, send } = sessions(2);
  const begun = await Promise.all([send(INITIALIZE), send(INITIALIZE), send(INITIALIZE)]);
  expect(begun.map(({ status }) => status)).toEqual([200, 200, 503]);
  expect(held.size).toBe(2);
  const session = begun[0]?.headers.get('mcp-session-id') ?? '';
  await send({ method: 'DELETE', headers: { 'mcp-session-id': session } });
  expect((await send(INITIALIZE)).status).toBe(200);
});

test('an initialize that is refused holds no session', async () => {
  const { held, send } = sessions(1);
  const deaf = { ...INITIALIZE, headers: { 'content-type': 'application/json', accept: 'text/html' } };
  expect((await send(deaf)).status).toBe(406);
  expect(held.size).toBe(0);
});

test('a server that cannot be built holds no session', async () => {
  const { served, held, send } = sessions(1);
  served.server = () => {
    throw new Error('no');
  };
  await expect(send(INITIALIZE)).rejects.toThrow('no');
  expect(held.size).toBe(0);
});
