import type { KeyObject } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { InvalidOption } from '../errors.ts';
import { ephemeralRing, keyRing } from './key-ring.ts';

const secret = (fill: string) => Buffer.alloc(32, fill);

test('a secret is stretched into an id, a cipher key and a salt, the same in every process', () => {
  const [key] = keyRing([Buffer.alloc(32, 7)]);
  // Computed with another implementation of HKDF (RFC 5869): a change here breaks every call under way.
  expect({
    id: key?.id.toString('hex'),
    cipher: key?.cipher.export().toString('hex'),
    salt: key?.salt,
  }).toEqual({
    id: '4c0f',
    cipher: '9cd785f6e623aa8cc2fc4633c829975da2d651295248258200556a4d73448dd9',
    salt: 'XHX6NnyZAM4Cv_fqTFnYBg',
  });
  expect(key?.ephemeral).toBe(false);
});

test('secrets that differ in one bit have different keys', () => {
  const [one, other] = keyRing([Buffer.alloc(32, 0), Buffer.concat([Buffer.alloc(31, 0), Buffer.of(1)])]);
  for (const part of ['cipher', 'atRest', 'naming'] as const) {
    expect(one?.[part].equals(other?.[part] as KeyObject), part).toBe(false);
  }
  expect(one?.salt).not.toBe(other?.salt);
});

test('later changes of the buffer that held a secret change nothing', () => {
  const mine = secret('a');
  const ring = keyRing([mine]);
  mine.fill(0);
  expect(ring).toEqual(keyRing([secret('a')]));
});

test('a secret that is a view into a larger buffer is read with its own bytes only', () => {
  const large = Buffer.concat([secret('x'), secret('a'), secret('y')]);
  expect(keyRing([new Uint8Array(large.buffer, large.byteOffset + 32, 32)])).toEqual(keyRing([secret('a')]));
});

const HINT = 'Give at least 32 random bytes, for example from `openssl rand -base64 32`.';

test.each<[string, unknown, string]>([
  ['a secret of 31 bytes', [secret('a'), 'tooshort-tooshort-tooshort-toos'], `keys[1] has 31 bytes. ${HINT}`],
  [
    'an unset environment variable',
    [secret('a'), process.env.MRTR_NOT_SET],
    `keys[1] is undefined (is its environment variable set?). ${HINT}`,
  ],
  ['an empty environment variable', [''], `keys[0] has 0 bytes. ${HINT}`],
  ['a number', [42], `keys[0] is of type number. ${HINT}`],
  ['null', [null], `keys[0] is of type object. ${HINT}`],
  ['one text instead of a list', 'k'.repeat(32), '`keys` must be a list of secrets: write keys: [secret].'],
  ['one buffer instead of a list', secret('a'), '`keys` must be a list of secrets: write keys: [secret].'],
  ['no secret', [], '`keys` is empty. Give at least one secret of 32 bytes, or leave `keys` out.'],
  [
    'the same secret twice',
    [secret('a'), secret('b'), 'a'.repeat(32)],
    'keys[2] comes twice in the key ring. Remove one of the two.',
  ],
])(
  'a key ring of %s is rejected by its place, and the secret is not in the message',
  (_what, keys, message) => {
    expect(() => keyRing(keys as never)).toThrow(new InvalidOption(message));
  },
);

test('the ephemeral key ring is one per process, also for a second copy of this module', async () => {
  const ring = ephemeralRing();
  expect(ephemeralRing()).toBe(ring);
  vi.resetModules();
  const copy = await import('./key-ring.ts');
  expect(copy.ephemeralRing).not.toBe(ephemeralRing);
  expect(copy.ephemeralRing()).toBe(ring);
  expect(ring).toMatchObject([{ ephemeral: true }]);
});
