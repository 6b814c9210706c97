import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openState, sealState, tokenLength } from './codec.ts';
import { keyRing, type SealingKey } from './key-ring.ts';
import { BINDING, bytesOf, KEY, NOW, OTHER_KEY, open, SEAL, seal } from './sealed.test-support.ts';

// Well-formed, for a payload is UTF-8; with a byte order mark and a NUL, which decoders like to eat.
const anyPayload = fc.string({
  unit: fc.oneof(fc.constantFrom('\ufeff', '\0', '\r\n', '"', 'é', '😀'), fc.string({ unit: 'binary' })),
  maxLength: 200,
});

test('what was sealed is opened, whatever the payload, the round and the clock', () => {
  fc.assert(
    fc.property(
      anyPayload,
      fc.integer({ min: 0, max: 0xff }),
      fc.integer({ min: 0, max: 0xffff_ffff }),
      fc.integer({ min: 1, max: 0xff_ffff }),
      (payload, round, issuedAt, ttlSeconds) => {
        const token = seal(payload, { round, issuedAt, ttlSeconds });
        const id = bytesOf(token).subarray(2, 14).toString('base64url');
        const expiresAt = issuedAt + ttlSeconds;
        expect(open(token, {}, issuedAt)).toEqual({ payload, round, id, expiresAt });
      },
    ),
    { numRuns: 300 },
  );
});

test('a lone surrogate has no UTF-8 and comes back as the replacement character', () => {
  expect(open(seal('a\ud800b'))).toMatchObject({ payload: 'a\ufffdb' });
});

test('a token is opened by what is bound to it being equal, not identical', () => {
  const again = { replicas: 3.0, service: 'shop' };
  expect(open(seal('p'), { arguments: again })).toMatchObject({ payload: 'p' });
});

test('a call without arguments and one with none are the same call', () => {
  const token = seal('p', { binding: { ...BINDING, arguments: undefined } });
  expect(open(token, { arguments: {} })).toMatchObject({ payload: 'p' });
});

test('a token of the first release still opens', () => {
  const token = 'v1.gKf-TbUBA0wadJVsyU4o6kXzhgBUvER3oRQTHyUhPPlvnoKaZSpnwee4i1kQbOTYbAwAF9dCnd5XqT2vgcwQ';
  expect(open(token)).toEqual({ payload: '{"a":1}', round: 3, id: '_k21AQNMGnSVbMlO', expiresAt: NOW + 600 });
});

test('the length of a token is known before it is sealed', () => {
  fc.assert(
    fc.property(anyPayload, (payload) => {
      const token = seal(payload);
      expect(token.length).toBe(tokenLength(Buffer.byteLength(payload)));
      expect(token).toMatch(/^v1\.[\w-]+$/);
    }),
    { numRuns: 100 },
  );
});

test.each([0, 1, 2, 3, 100, 1024, 8192])(
  'a token is no longer than the one the SDK signs for the same JSON of %i bytes',
  async (bytes) => {
    const codec = createRequestStateCodec({ key: 'k'.repeat(32) });
    const payload = 'x'.repeat(bytes);
    const signed = await codec.mint(payload, {} as ServerContext);
    expect(seal(JSON.stringify(payload)).length).toBeLessThanOrEqual(signed.length);
  },
);

test('a thousand tokens of one payload have a thousand ids', () => {
  const ids = Array.from({ length: 1000 }, () => open(seal('p'))).map(
    (opened) => 'id' in opened && opened.id,
  );
  expect(new Set(ids).size).toBe(1000);
});

test('a token shows nothing of its payload or of what it is bound to', () => {
  const secret = 'correct horse battery staple';
  const token = seal(secret.repeat(4), { binding: { ...BINDING, target: secret, principal: secret } });
  expect(bytesOf(token).includes(secret)).toBe(false);
  expect(bytesOf(token).includes(KEY.cipher)).toBe(false);
});

test.each([
  ['behind the old key, so that instances learn it', [KEY, OTHER_KEY], OTHER_KEY],
  ['in front of the old key, so that calls under way go on', [OTHER_KEY, KEY], KEY],
])('while keys rotate, a new key may stand %s', (_where, ring, sealedWith) => {
  expect(open(seal('p', {}, sealedWith), {}, NOW, ring)).toMatchObject({ payload: 'p' });
});

test('a key that was taken away opens nothing', () => {
  expect(open(seal('p', {}, OTHER_KEY), {}, NOW, [KEY])).toEqual({ rejected: 'unknown_key' });
});

/** Two keys whose two-byte ids collide, which happens to one pair in 65 536. */
function namesakes(): [SealingKey, SealingKey] {
  const seen = new Map<string, SealingKey>();
  for (let n = 0; ; n++) {
    const [key] = keyRing([`${n}`.padStart(32, '-')]) as [SealingKey];
    const name = key.id.toString('hex');
    const namesake = seen.get(name);
    if (namesake) return [namesake, key];
    seen.set(name, key);
  }
}

test('two keys of one id are told apart by trying both', () => {
  const [one, other] = namesakes();
  expect(one.cipher).not.toEqual(other.cipher);
  for (const ring of [
    [one, other],
    [other, one],
  ]) {
    expect(open(seal('by one', {}, one), {}, NOW, ring)).toMatchObject({ payload: 'by one' });
    expect(open(seal('by other', {}, other), {}, NOW, ring)).toMatchObject({ payload: 'by other' });
  }
  expect(open(seal('p', {}, one), {}, NOW, [other])).toEqual({ rejected: 'tampered' });
});

test('sealing never writes into what it was given', () => {
  const binding = Object.freeze({ ...BINDING, arguments: Object.freeze({ service: 'shop' }) });
  const token = sealState('p', Object.freeze({ ...SEAL, binding }), Object.freeze({ ...KEY }));
  expect(openState(token, binding, NOW, Object.freeze([KEY]))).toMatchObject({ payload: 'p' });
});
