import { createSecretKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { drawRandom, nonceOf, openBytes, sealBytes } from './sealed-bytes.ts';

const [key, id, place] = [createSecretKey(Buffer.alloc(32, 1)), Buffer.from('id'), Buffer.from('place')];
const sealPlain = (): Buffer => sealBytes(Buffer.from('plain'), key, id, place);

test('no random byte is drawn twice, over many fillings of the pool', () => {
  const draws = Array.from({ length: 3000 }, (_, at) => drawRandom(at % 2 ? 12 : 16).toString('hex'));
  const nonces = Array.from({ length: 1000 }, () => nonceOf(sealPlain()));
  expect(new Set(draws.map((draw) => draw.slice(0, 24))).size).toBe(3000);
  expect(new Set(nonces).size).toBe(1000);
  expect(draws.map(({ length }) => length / 2)).toEqual(draws.map((_, at) => (at % 2 ? 12 : 16)));
});

test('sealed bytes open under their key and for their place', () => {
  expect(openBytes(sealPlain(), key, place)?.toString()).toBe('plain');
  expect(openBytes(sealPlain(), createSecretKey(Buffer.alloc(32, 2)), place)).toBeUndefined();
  expect(openBytes(sealPlain(), key, Buffer.from('elsewhere'))).toBeUndefined();
});
