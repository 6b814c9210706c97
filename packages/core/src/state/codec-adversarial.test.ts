/** Tokens that a client changed, made up or took from another request. None of them opens. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Binding } from './binding.ts';
import { CLOCK_SKEW_MS } from './codec.ts';
import { BINDING, bytesOf, EMPTY, KEY, NOW, OTHER_KEY, open, seal, tokenOf } from './sealed.test-support.ts';

const asked = new Map([['sure', EMPTY.callId]]);
const TOKEN = seal('{"sure":true}', { asked, version: '2' });
const LABELLED = seal('{"sure":true}', { asked, routingLabel: 'i2' });
const RING = [KEY, OTHER_KEY];

test('a flip of any single bit is rejected, in the sealed part and in the label', () => {
  const bytes = bytesOf(TOKEN);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    // The first two bytes name the key; no key has the name that a flip there makes.
    const rejected = { reason: 'invalid', detail: bit < 16 ? 'unknown_key' : 'tampered' };
    expect(open(tokenOf(flipped)), `bit ${bit}`).toEqual({ rejected });
  }
  const text = Buffer.from(LABELLED);
  for (let bit = 0; bit < text.length * 8; bit++) {
    const flipped = Buffer.from(text);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(open(flipped.toString('latin1')), `bit ${bit} of the text`).toHaveProperty('rejected');
  }
});

test('a change of any characters is rejected', () => {
  fc.assert(
    fc.property(
      fc.nat(TOKEN.length - 1),
      fc.nat(3),
      fc.string({
        unit: fc.oneof(fc.constantFrom('A', '-', '_', '=', '.', '+', '/'), fc.string({ unit: 'binary' })),
        maxLength: 3,
      }),
      (at, cut, put) => {
        const changed = TOKEN.slice(0, at) + put + TOKEN.slice(at + cut);
        fc.pre(changed !== TOKEN);
        expect(open(changed, {}, NOW, RING)).toHaveProperty('rejected');
      },
    ),
    { numRuns: 1000 },
  );
});

test('any text that was not sealed is rejected without an exception', () => {
  const anyUnits = fc.array(fc.nat(0xffff), { maxLength: 200 });
  const anyText = anyUnits.map((units) => String.fromCharCode(...units));
  const anyBytes = fc.uint8Array({ maxLength: 200 });
  const named = anyBytes.map((bytes) => tokenOf(Buffer.concat([KEY.id, bytes])));
  const candidates = fc.oneof(
    anyText,
    anyText.map((text) => `v1.${text}`),
    anyBytes.map(tokenOf),
    named,
  );
  fc.assert(
    fc.property(candidates, (token) => {
      expect(open(token, {}, NOW, RING)).toHaveProperty('rejected');
    }),
    { numRuns: 500 },
  );
});

test('every truncation is rejected, in characters and in bytes', () => {
  for (let length = 0; length < TOKEN.length; length++) {
    expect(open(TOKEN.slice(0, length)), `${length} characters`).toHaveProperty('rejected');
  }
  const bytes = bytesOf(TOKEN);
  for (let length = 0; length < bytes.length; length++) {
    const rejected = { reason: 'invalid', detail: length < 2 + 12 + 46 + 16 ? 'malformed' : 'tampered' };
    expect(open(tokenOf(bytes.subarray(0, length))), `${length} bytes`).toEqual({ rejected });
  }
});

test('no splice of two tokens opens', () => {
  const [one, other] = [bytesOf(seal('{"sure":false}')), bytesOf(seal('{"sure":true!}'))];
  // The first two bytes are the key's id, which both have.
  expect(open(tokenOf(Buffer.concat([one.subarray(0, 2), other.subarray(2)])))).toHaveProperty('payload');
  for (let cut = 3; cut < one.length; cut++) {
    const bytes = Buffer.concat([one.subarray(0, cut), other.subarray(cut)]);
    // Two tokens may agree in their first or last byte by chance. A splice there is one of them.
    if (bytes.equals(one) || bytes.equals(other)) continue;
    const spliced = tokenOf(bytes);
    expect(open(spliced), `cut at ${cut}`).toEqual({ rejected: { reason: 'invalid', detail: 'tampered' } });
  }
});

// A token whose last character has bits to spare, and one whose alphabet has both special characters.
const withSpareBits = seal('1');
const withSpecials = (() => {
  for (;;) {
    const token = seal('p');
    if (/-/.test(token) && /_/.test(token)) return token;
  }
})();
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const nextInAlphabet = (character: string) => ALPHABET[(ALPHABET.indexOf(character) + 1) % 64];

test.each([
  ['padding', `${TOKEN}${'='.repeat((4 - ((TOKEN.length - 3) % 4)) % 4 || 1)}`],
  ['the standard alphabet', withSpecials.replaceAll('-', '+').replaceAll('_', '/')],
  ['white space around', ` ${TOKEN} `],
  ['a line break inside', `${TOKEN.slice(0, 40)}\n${TOKEN.slice(40)}`],
  ['a foreign character inside', `${TOKEN.slice(0, 40)}!${TOKEN.slice(40)}`],
  ['spare bits that are set', withSpareBits.slice(0, -1) + nextInAlphabet(withSpareBits.at(-1) ?? '')],
])('the same bytes in another spelling (%s) are rejected', (_what, token) => {
  expect(open(token)).toEqual({ rejected: { reason: 'invalid', detail: 'malformed' } });
});

test('the spare bits of that token are spare: both spellings decode to the same bytes', () => {
  const respelt = withSpareBits.slice(0, -1) + nextInAlphabet(withSpareBits.at(-1) ?? '');
  expect(bytesOf(respelt)).toEqual(bytesOf(withSpareBits));
});

test.each(['v2.', 'V1.', 'v1', '', 'v1..', ' v1.', 'v1.v1.'])('a prefix of "%s" is rejected', (prefix) => {
  expect(open(prefix + TOKEN.slice(3))).toEqual({ rejected: { reason: 'invalid', detail: 'malformed' } });
});

test('a token that was sealed with a key of the attacker is rejected', () => {
  expect(open(seal('{"sure":true}', {}, OTHER_KEY))).toEqual({
    rejected: { reason: 'invalid', detail: 'unknown_key' },
  });
  // Under our key's name, too.
  expect(open(seal('{"sure":true}', {}, { ...OTHER_KEY, id: KEY.id }))).toEqual({
    rejected: { reason: 'invalid', detail: 'tampered' },
  });
});

test('the key id is under the seal: a token renamed to another key does not open with the same cipher', () => {
  const alias = { ...KEY, id: Buffer.from([KEY.id.readUInt8(0), KEY.id.readUInt8(1) ^ 1]) };
  const renamed = Buffer.concat([alias.id, bytesOf(TOKEN).subarray(2)]);
  expect(open(tokenOf(renamed), {}, NOW, [alias])).toEqual({
    rejected: { reason: 'invalid', detail: 'tampered' },
  });
});

test('a token that was sealed in the middle of a second lives its time to live to the millisecond', () => {
  expect(NOW % 1000).toBe(500);
  expect(open(TOKEN, {}, NOW + 599_999)).toMatchObject({ expiresAt: NOW + 600_000 });
  expect(open(TOKEN, {}, NOW + 600_000)).toEqual({ rejected: { reason: 'expired' } });
  const brief = seal('p', { ttlSeconds: 1, issuedAt: NOW + 499 });
  expect(open(brief, {}, NOW + 1498)).toMatchObject({ payload: 'p' });
  expect(open(brief, {}, NOW + 1499)).toEqual({ rejected: { reason: 'expired' } });
});

test('another clock may be a minute ahead, and not a millisecond more', () => {
  expect(CLOCK_SKEW_MS).toBe(60_000);
  expect(open(TOKEN, {}, NOW - 60_000)).toMatchObject({ expiresAt: NOW + 600_000 });
  expect(open(TOKEN, {}, NOW - 60_001)).toEqual({
    rejected: { reason: 'invalid', detail: 'issued_in_the_future' },
  });
});

test('the checksums for the log decide nothing: names with the same checksum do not open a token', () => {
  for (const name of ['target', 'audience', 'principal'] as const) {
    for (let n = 0; n < 300; n++) {
      expect(open(TOKEN, { [name]: `${n}` }), `${name} ${n}`).toHaveProperty('rejected');
    }
  }
});

test('an anonymous token does not open for a user, with an empty name or any other', () => {
  const token = seal('p', { binding: { ...BINDING, principal: undefined } });
  expect(open(token, { principal: undefined })).toMatchObject({ payload: 'p' });
  for (const principal of ['', 'null', 'undefined', 'alice']) {
    expect(open(token, { principal }), principal).toHaveProperty('rejected');
  }
});

const anyName = fc.oneof(fc.constantFrom('', '"', '","', 'a', 'ab', '\ud800'), fc.string({ maxLength: 8 }));
const anyBinding = fc.record<Binding>(
  {
    method: fc.constantFrom('tools/call', 'prompts/get', 'resources/read'),
    target: anyName,
    arguments: fc.oneof(
      fc.constantFrom({}, { a: 1 }, { a: '1' }, [1], 'a'),
      fc.dictionary(anyName, anyName, { maxKeys: 2, noNullPrototype: true }),
    ),
    audience: anyName,
    principal: fc.option(anyName, { nil: undefined }),
  },
  { noNullPrototype: true },
);

test('a request opens the token of another only if all their bindings are equal', () => {
  const bindings = ['method', 'target', 'arguments', 'audience', 'principal'] as const;
  fc.assert(
    fc.property(anyBinding, anyBinding, fc.subarray([...bindings]), (one, two, taken) => {
      const other = { ...one, ...Object.fromEntries(taken.map((name) => [name, two[name]])) };
      const opened = open(seal('p', { binding: one }), other);
      expect('payload' in opened).toBe(isDeepStrictEqual(one, other));
    }),
    { numRuns: 500 },
  );
});
