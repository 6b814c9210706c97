import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { textOf } from './body.ts';

/** A body that stands open. */
const open = (...chunks: Uint8Array[]): Readable => {
  const body = new Readable({ read() {} });
  for (const chunk of chunks) body.push(chunk);
  return body;
};

test('a character may be split between two chunks', async () => {
  const bytes = Buffer.from('{"city":"東京"}');
  const body = Readable.from([...bytes].map((byte) => Buffer.of(byte)));
  expect(await textOf(body, bytes.length)).toBe('{"city":"東京"}');
});

test('a body that is too long is refused before its end, and the rest is discarded', async () => {
  const body = open(Buffer.alloc(6));
  const text = textOf(body, 10);
  body.push(Buffer.alloc(5));
  expect(await text).toBeUndefined();
  body.push(Buffer.alloc(1_000_000));
  expect(body.readableLength).toBe(0);
});

test('a client that leaves ends the reading of its body, before it began or after', async () => {
  const body = open(Buffer.from('{'));
  const text = textOf(body, 10);
  body.destroy(new Error('ECONNRESET'));
  await expect(text).rejects.toThrow('went away');
  await expect(textOf(body, 10)).rejects.toThrow('went away');
});
