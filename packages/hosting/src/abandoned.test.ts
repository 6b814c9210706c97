/** Handlers of cancelled calls that ignore their signal take no place from other calls. */
import { once } from 'node:events';
import type { ServerContext } from '@mrtr/core';
import { requestInit, settle } from '@mrtr/harness/internal';
import { expect, test, vi } from 'vitest';
import { type HostedOptions, oldMessage, oldRequest, read } from './hosting.test-support.ts';
import { REQUEST_BYTES } from './limits.ts';
import { newCall, oldCall, TOO_MANY_CALLS, waiting } from './waiting.test-support.ts';

const served = { status: 200, result: expect.anything() };
const who = requestInit('tools/call', { name: 'who' });

/** Resolves in the turn after the one in which the signal of a handler has fired. */
async function waitForSignal(entry: Promise<ServerContext>): Promise<void> {
  const { signal } = (await entry).mcpReq;
  if (!signal.aborted) await once(signal, 'abort');
  await settle(2);
}

/** Makes waiting calls, and cancels each as its era does. Resolves when the server has noticed. */
async function cancelling(options: HostedOptions) {
  const server = await waiting(options);
  const { url, enters } = server;
  const cancelNew = async (init: RequestInit = newCall()): Promise<unknown> => {
    const client = new AbortController();
    const entry = server.nextEntry();
    const entered = await enters({ ...init, signal: client.signal });
    if (entered !== 'entered') return entered;
    client.abort();
    await waitForSignal(entry);
    return entered;
  };
  let id = 0;
  const cancelOld = async (session: string): Promise<unknown> => {
    const entered = await enters(oldCall(session, ++id));
    const params = { requestId: id };
    if (entered === 'entered')
      await fetch(url, oldMessage({ method: 'notifications/cancelled', params }, session));
    return entered;
  };
  return { ...server, cancelNew, cancelOld };
}

test.each(['new', 'old'])(
  'three calls of a %s client that it cancels leave a server of three places open',
  async (era) => {
    const { url, cancelNew, cancelOld, session } = await cancelling({ policy: { limits: { requests: 3 } } });
    const id = await session();
    for (let n = 0; n < 3; n++) expect(await (era === 'new' ? cancelNew() : cancelOld(id))).toBe('entered');
    expect(await read(await fetch(url, who))).toEqual(served);
    expect(await read(await fetch(url, oldRequest('tools/call', { name: 'who' }, id, 9)))).toEqual(served);
  },
);

test('cancelled calls give back the bytes of their bodies', async () => {
  const { cancelNew, enters } = await cancelling({
    limits: { bytes: REQUEST_BYTES + 15_000, bodyBytes: 15_000, perPrincipal: 1 },
  });
  const large = () => newCall({ arguments: { x: 'x'.repeat(10_000) } });
  expect(await cancelNew(large())).toBe('entered');
  expect(await enters(large())).toBe('entered');
  expect(await enters(large())).toMatchObject({ status: 503 });
});

test('the calls of a session that ends move to the abandoned handlers', async () => {
  const { url, enters, session } = await waiting({ policy: { limits: { requests: 2 } } });
  const id = await session();
  expect([await enters(oldCall(id, 1)), await enters(oldCall(id, 2))]).toEqual(['entered', 'entered']);
  expect(await read(await fetch(url, who))).toEqual(TOO_MANY_CALLS);
  await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': id } });
  expect(await read(await fetch(url, who))).toEqual(served);
});

test('without sessions, an old client that hangs up has cancelled', async () => {
  const { url, nextEntry, enters } = await waiting({
    legacyClients: 'stateless',
    policy: { limits: { requests: 1 } },
  });
  const client = new AbortController();
  const entry = nextEntry();
  const init = oldRequest('tools/call', { name: 'wait' });
  expect(await enters({ ...init, signal: client.signal })).toBe('entered');
  client.abort();
  await waitForSignal(entry);
  expect(await read(await fetch(url, who))).toEqual(served);
});

test('without room among the abandoned handlers, a cancelled call keeps its place, and the operator learns it once', async () => {
  const { url, cancelNew, cancelOld, session, errors, release } = await cancelling({
    policy: { limits: { requests: 2 } },
  });
  const id = await session();
  for (const cancel of [cancelNew, () => cancelOld(id), cancelNew, () => cancelOld(id)])
    expect(await cancel()).toBe('entered');
  expect(await read(await fetch(url, who))).toEqual(TOO_MANY_CALLS);
  expect(errors).toEqual([
    '2 handlers of cancelled calls have not ended. Later cancelled calls keep their places until their handlers end. ' +
      'Make handlers end when their signal fires, and restart the server if they cannot.',
  ]);
  release();
  await vi.waitFor(async () => expect(await read(await fetch(url, who))).toEqual(served), 10_000);
  expect(errors).toHaveLength(1);
});
