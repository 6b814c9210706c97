import { expect, test } from 'vitest';
import { InvalidPolicy } from '../errors.ts';
import { ephemeralRing, keyRing } from './key-ring.ts';

const secret = (fill: string) => Buffer.alloc(32, fill);

test('a secret is stretched into an id, a cipher key and a salt, the same in every process', () => {
  const [key] = keyRing([Buffer.alloc(32, 7)]);
  // Computed with another implementation of HKDF (RFC 5869): a change here strands every call under way.
  expect({
    id: key?.id.toString('hex'),
    cipher: key?.cipher.toString('hex'),
    salt: key?.salt,
  }).toEqual({
    id: '4c0f',
    cipher: '9cd785f6e623aa8cc2fc4633c829975da2d651295248258200556a4d73448dd9',
    salt: 'XHX6NnyZAM4Cv_fqTFnYBg',
  });
});

test('a text and its UTF-8 bytes are the same secret', () => {
  expect(keyRing(['0123456789abcdefghijklmnopqrstüv'])).toEqual(
    keyRing([Buffer.from('0123456789abcdefghijklmnopqrstüv')]),
  );
});

test('secrets that differ in one bit share nothing but the length', () => {
  const [one, other] = keyRing([Buffer.alloc(32, 0), Buffer.concat([Buffer.alloc(31, 0), Buffer.of(1)])]);
  expect(one?.cipher.equals(other?.cipher ?? Buffer.alloc(0))).toBe(false);
  expect(one?.salt).not.toBe(other?.salt);
});

test('what becomes of the buffer after the ring was made changes nothing', () => {
  const mine = secret('a');
  const ring = keyRing([mine]);
  mine.fill(0);
  expect(ring).toEqual(keyRing([secret('a')]));
});

test('a view into a larger buffer counts for its own bytes only', () => {
  const large = Buffer.concat([secret('x'), secret('a'), secret('y')]);
  expect(keyRing([new Uint8Array(large.buffer, large.byteOffset + 32, 32)])).toEqual(keyRing([secret('a')]));
});

test('a secret of 31 bytes is refused by its place and length, and does not show in the message', () => {
  expect(() => keyRing([secret('a'), 'tooshort-tooshort-tooshort-toos'])).toThrow(
    new InvalidPolicy(
      'keys[1] has 31 bytes; at least 32 random ones are needed, for example from `openssl rand -base64 32`.',
    ),
  );
});

test('the length is counted in bytes of UTF-8, not in characters', () => {
  expect(keyRing(['ü'.repeat(16)])).toHaveLength(1);
  expect(() => keyRing(['ü'.repeat(15)])).toThrow('keys[0] has 30 bytes');
});

test('an empty ring is refused', () => {
  expect(() => keyRing([])).toThrow(
    new InvalidPolicy('The key ring is empty. Give at least one secret of 32 bytes, or leave `keys` out.'),
  );
});

test('two ephemeral rings share no key', () => {
  const [[one], [other]] = [ephemeralRing(), ephemeralRing()];
  expect(one?.cipher.equals(other?.cipher ?? Buffer.alloc(0))).toBe(false);
});
