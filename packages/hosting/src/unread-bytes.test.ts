/** Clients that open streams and do not read them. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FLOODED, hosting, modernClient } from './hosting.test-support.ts';
import { MAX_STREAM_BYTES, makeStreamLimiter } from './unread-bytes.ts';

/** A stream of events that the test writes, and its client. */
function stream(unread: ReturnType<typeof makeStreamLimiter>, principal?: string) {
  const outgoing = new Writable() as ServerResponse & Writable;
  const cancelled = vi.fn();
  let source!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      source = controller;
    },
    cancel: cancelled,
  });
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const reader = unread(response, { outgoing, principal }).body?.getReader();
  return {
    outgoing,
    source,
    reader,
    cancelled,
    write: (bytes: number) => source.enqueue(new Uint8Array(bytes)),
  };
}

/** Lets streams move, and full ones time out. */
const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  await vi.advanceTimersByTimeAsync(300);
};

/** Counts with limits of all streams, of one principal and of one stream. */
function counting({ all = 1_000_000, own = 1_000_000, stream = MAX_STREAM_BYTES }) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const errors: string[] = [];
  return {
    errors,
    unread: makeStreamLimiter(
      { bytes: all, perPrincipal: own / all },
      ({ message }) => void errors.push(message),
      stream,
    ),
  };
}

test('a stream ends when more than its bound waits to be read', async () => {
  const { errors, unread } = counting({ stream: 100 });
  const { outgoing, write, cancelled } = stream(unread);
  for (const bytes of [60, 40, 1]) write(bytes);
  await turns();
  expect([errors, outgoing.destroyed]).toEqual([[], false]);
  write(1);
  await turns();
  expect(errors).toEqual([expect.stringContaining('its client left 101 bytes unread')]);
  expect([outgoing.destroyed, cancelled.mock.calls.length]).toEqual([true, 1]);
});

test('a client that reads gets any number of messages, and one that is larger than the bound', async () => {
  const { errors, unread } = counting({ stream: 100 });
  const { write, source, reader } = stream(unread);
  const sizes = [...Array(50).fill(90), 5000, 1];
  const read: (number | undefined)[] = [];
  for (const bytes of sizes) {
    write(bytes);
    read.push((await reader?.read())?.value?.byteLength);
  }
  source.close();
  expect(read).toEqual(sizes);
  expect(await reader?.read()).toEqual({ done: true, value: undefined });
  expect(errors).toEqual([]);
});

test.each([
  ['of one principal', { own: 100 }, 'ada'],
  ['in all', { all: 100, own: 100 }, 'bob'],
] as const)(
  'a stream ends when more than the bound %s waits, and the others go on',
  async (_what, limits, who) => {
    const { errors, unread } = counting(limits);
    const [one, two] = [stream(unread, 'ada'), stream(unread, who)];
    for (const { write } of [one, two]) write(60);
    await turns();
    two.write(1);
    await turns();
    expect([one, two].map(({ outgoing }) => outgoing.destroyed)).toEqual([false, true]);
    // The ended stream has given its bytes back.
    one.write(30);
    await turns();
    expect([errors.length, one.outgoing.destroyed]).toEqual([1, false]);
  },
);

test('what was read, and what a closed stream held, counts no more', async () => {
  const { errors, unread } = counting({ own: 100 });
  const [read, closed, last] = [stream(unread, 'ada'), stream(unread, 'ada'), stream(unread, 'ada')];
  for (const { write } of [read, closed]) write(90);
  await turns();
  await read.reader?.read();
  closed.outgoing.destroy();
  await once(closed.outgoing, 'close');
  for (const bytes of [50, 50]) last.write(bytes);
  await turns();
  expect([errors, last.outgoing.destroyed, closed.cancelled.mock.calls.length]).toEqual([[], false, 1]);
});

test('an answer that is no stream passes as it is', () => {
  const { unread } = counting({});
  const response = new Response('{}', { headers: { 'content-type': 'application/json' } });
  expect(unread(response, { outgoing: new Writable() as ServerResponse & Writable, principal: 'ada' })).toBe(
    response,
  );
});

test('a handler that sends without a pause to a client that reads is not cut off', async () => {
  const { url, errors } = await hosting();
  const client = await modernClient(url);
  let heard = 0;
  const onprogress = () => void heard++;
  expect(await client.callTool({ name: 'flood', arguments: {} }, { onprogress })).toMatchObject(FLOODED);
  expect([heard, errors]).toEqual([1000, []]);
});

test('messages in the buffers of connections count too', async () => {
  const { errors, unread } = counting({ own: 100 });
  const [one, two] = [stream(unread, 'ada'), stream(unread, 'ada')];
  one.write(1);
  await turns();
  Object.defineProperty(one.outgoing, 'writableLength', { value: 101 });
  one.outgoing.emit('drain');
  two.write(1);
  await turns();
  expect([errors.length, two.outgoing.destroyed]).toEqual([1, true]);
});

test('a message that comes as its client goes counts no more', async () => {
  const { errors, unread } = counting({ own: 100, stream: 100 });
  const gone = stream(unread, 'ada');
  gone.write(90);
  gone.outgoing.destroy();
  gone.write(90);
  await turns();
  const honest = stream(unread, 'ada');
  for (const bytes of [50, 50]) honest.write(bytes);
  await turns();
  expect([errors, honest.outgoing.destroyed]).toEqual([[], false]);
});
