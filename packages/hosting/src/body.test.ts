import { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bodyReader } from './body.ts';
import { type Limits, MOUNT_LIMITS } from './limits.ts';

const REQUEST = new Request('http://localhost/mcp', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
});

/** A body that stays open. */
const open = (...chunks: Uint8Array[]): Readable => {
  const body = new Readable({ read() {} });
  for (const chunk of chunks) body.push(chunk);
  return body;
};

const receiving = (limits: Partial<Limits>) => {
  const bodies = bodyReader({ ...MOUNT_LIMITS, ...limits });
  const read = (body: Readable, principal?: string) =>
    bodies.read(REQUEST, { incoming: body, parsedBody: undefined }, principal);
  return { bodies, read };
};

/** The status and the text of a rejection, and whether its connection ends. */
const rejection = async (read: ReturnType<ReturnType<typeof bodyReader>['read']>) => {
  const response = (await read) as Response;
  const { error } = (await response.json()) as { error: { message: string } };
  return `${response.status} ${error.message}${response.headers.get('connection') === 'close' ? ', and closes' : ''}`;
};

/** Lets a stream deliver its pushed chunks. */
const flowing = () => new Promise((resolve) => setImmediate(resolve));

test('a character may be split between two chunks', async () => {
  const { read } = receiving({});
  const body = Readable.from([...Buffer.from('{"city":"東京"}')].map((byte) => Buffer.of(byte)));
  expect(await read(body)).toEqual({ json: { city: '東京' }, bytes: 17 });
});

test('a body that is too long is rejected before its end, and the rest is discarded', async () => {
  const { bodies, read } = receiving({ bodyBytes: 10 });
  const body = open(Buffer.alloc(6));
  const rejected = rejection(read(body));
  body.push(Buffer.alloc(5));
  expect(await rejected).toBe('413 A body has at most 10 bytes; send less, and closes');
  body.push(Buffer.alloc(1_000_000));
  await flowing();
  expect(body.readableLength).toBe(0);
  expect(bodies.incoming).toBe(0);
});

test('a client that leaves ends the reading of its body, before it began or after, and holds nothing', async () => {
  const { bodies, read } = receiving({});
  const body = open(Buffer.from('{'));
  const received = read(body);
  await flowing();
  expect(bodies.incoming).toBeGreaterThan(0);
  body.destroy(new Error('ECONNRESET'));
  await expect(received).rejects.toThrow('went away');
  await expect(read(body)).rejects.toThrow('went away');
  expect(bodies.incoming).toBe(0);
});

test('a body has so long to come in, and one that stops half-way holds nothing after that', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { bodies, read } = receiving({});
  const body = open(Buffer.from('{'));
  const rejected = rejection(read(body));
  await flowing();
  vi.advanceTimersByTime(29_999);
  body.push(Buffer.from(' '));
  await flowing();
  expect(bodies.incoming).toBeGreaterThan(0);
  // More bytes do not extend the time.
  vi.advanceTimersByTime(1);
  expect(await rejected).toBe('408 A body has to come in within 30 seconds; send it again, and closes');
  expect(bodies.incoming).toBe(0);
});

test('bodies that are coming in have so many bytes together, and those that have come in make room', async () => {
  const { bodies, read } = receiving({ bytes: 10_000 });
  const unfinished = [open(Buffer.alloc(4000, ' ')), open(Buffer.alloc(4000, ' '))];
  const received = unfinished.map((body) => read(body));
  await flowing();
  expect(bodies.incoming).toBe(8192);
  expect(await rejection(read(open(Buffer.from('{}'))))).toBe(
    '503 This server has too many bytes of requests coming in; try again later, and closes',
  );
  for (const body of unfinished) {
    body.push(Buffer.from('{}'));
    body.push(null);
  }
  expect(await Promise.all(received)).toEqual([
    { json: {}, bytes: 4002 },
    { json: {}, bytes: 4002 },
  ]);
  expect(bodies.incoming).toBe(0);
});

test('the bodies of one principal have so many bytes, and those of others still come in', async () => {
  const { read } = receiving({ bytes: 80_000 });
  const unfinished = read(open(Buffer.alloc(4000)), 'ada');
  unfinished.catch(() => {});
  await flowing();
  expect(await rejection(read(open(Buffer.from('{}')), 'ada'))).toBe(
    '429 You have too many bytes of requests coming in; end one, or try again later, and closes',
  );
  expect(await read(Readable.from([Buffer.from('{}')]), 'bob')).toEqual({ json: {}, bytes: 2 });
});

test.each([
  ['numbers', `[${'0,'.repeat(10_000)}0]`],
  ['empty objects', `[${'{},'.repeat(5000)}0]`],
  ['levels', '['.repeat(10_001)],
  ['text that is no JSON', ','.repeat(10_001)],
  ['members after a string of escapes', `["\\\\\\"",${'0,'.repeat(10_000)}0]`],
])('a body of too many members is rejected before it is parsed: %s', async (_what, text) => {
  const { read } = receiving({});
  expect(await rejection(read(Readable.from([Buffer.from(text)])))).toBe(
    '413 A body has at most 10000 members of objects and arrays; send less',
  );
});

test('what stands in strings is no member', async () => {
  const { read } = receiving({});
  const json = { ',[{,[{,[{\\",[{"': '\\,[{"'.repeat(10_000) };
  const text = JSON.stringify(json);
  expect(await read(Readable.from([Buffer.from(text)]))).toEqual({ json, bytes: text.length });
});
