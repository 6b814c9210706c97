import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decode, encode, joinSegments, readableIn } from './decode.ts';
import { forgeries } from './forge.ts';
import { aliases, bitFlips, malform } from './mutate.ts';

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const opaque = fc.uint8Array({ minLength: 24, maxLength: 200 }).map((bytes) => Buffer.from(bytes));

describe('reading', () => {
  test('finds JSON in Base64, in a signed pair, in a JWT, in hex, and as it stands', () => {
    const payload = { step: 1 };
    const tokens = [
      base64url(payload),
      Buffer.from(JSON.stringify(payload)).toString('base64'),
      `${base64url(payload)}.c2lnbmF0dXJlLXNpZ25hdHVyZQ`,
      `${base64url({ alg: 'HS256' })}.${base64url(payload)}.c2lnbmF0dXJl`,
      Buffer.from(JSON.stringify(payload)).toString('hex'),
      JSON.stringify(payload),
    ];
    for (const token of tokens)
      expect(decode(token).segments.some(({ json }) => JSON.stringify(json) === '{"step":1}')).toBe(true);
  });

  test('recognises a word, and finds nothing to read in sealed bytes', () => {
    expect(readableIn(decode('Tokyo, then Kyoto').segments[0] as never)).toBe('Tokyo, then Kyoto');
    const sealed = Buffer.from('9f3a7be2d1c4a85f60927e3bd81fca447a', 'hex').toString('base64url');
    expect(decode(sealed).segments.map(readableIn)).toEqual([undefined]);
  });

  test('writes every token back as it was', () => {
    const parts = fc.array(
      opaque.map((raw) => raw.toString('base64url')),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(parts, fc.constantFrom('.', ':', '|'), (segments, separator) => {
        const token = segments.join(separator);
        const read = decode(token);
        return (
          joinSegments(
            read,
            read.segments.map((one) => encode(one.bytes, one)),
          ) === token
        );
      }),
    );
  });
});

/** The decoded first part of each token. */
const payloadsOf = (variants: readonly { readonly token: string }[]) =>
  variants.map(({ token }) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()));

describe('forging', () => {
  const words = ['admin'];

  test('changes each leaf, with the signature and without it', () => {
    const token = `${base64url({ user: 'bob', sure: false, step: 1 })}.c2lnbmF0dXJlLXNpZ25hdHVyZQ`;
    const forged = forgeries(token, words);
    const contents = payloadsOf(forged);
    expect(contents).toContainEqual({ user: 'admin', sure: false, step: 1 });
    expect(contents).toContainEqual({ user: 'bob', sure: true, step: 1 });
    expect(contents).toContainEqual({ user: 'bob', sure: false, step: 2 });
    expect(forged.some(({ token: one }) => one.endsWith('.'))).toBe(true);
    expect(forged.some(({ token: one }) => !one.includes('.'))).toBe(true);
    expect(forged.every(({ token: one }) => one !== token)).toBe(true);
  });

  test('inserts values of other rounds in the same place, except those that differ between two calls', () => {
    const round = (step: string, id: string) => base64url({ at: [{ step }], id });
    const seen = [
      [round('consent', '1'), round('consent', '2')],
      [round('reason', '1'), round('reason', '2')],
    ] as const;
    const forged = payloadsOf(forgeries(round('consent', '3'), words, seen));
    expect(forged[0]).toEqual({ at: [{ step: 'reason' }], id: '3' });
    expect(forged.filter(({ id }) => id === '1' || id === '2')).toEqual([]);
    const inside = (step: string) => JSON.stringify({ token: round(step, '1') });
    const [first] = forgeries(inside('consent'), words, [[inside('reason'), inside('reason')]]);
    expect(first?.token).toBe(inside('reason'));
  });

  test('finds the payload in a pair that is an object, and removes its signature', () => {
    const pair = (payload: unknown) => ({ payload: base64url(payload), sig: 'c2lnbmF0dXJl' });
    const forged = payloadsOf(forgeries(base64url(pair({ user: 'bob' })), words));
    expect(forged).toContainEqual(pair({ user: 'admin' }));
    expect(forged).toContainEqual({ payload: base64url({ user: 'admin' }) });
  });

  test('makes a JWT with alg none', () => {
    const token = `${base64url({ alg: 'HS256' })}.${base64url({ sub: 'bob' })}.c2ln`;
    const unsigned = forgeries(token, words).filter(({ label }) => label.includes('alg "none"'));
    expect(unsigned.length).toBeGreaterThan(0);
    for (const header of payloadsOf(unsigned)) expect(header).toEqual({ alg: 'none' });
  });

  test('keeps the spacing that it found', () => {
    const [first] = forgeries('{"a": 1, "b": "x"}', words);
    expect(first?.token).toBe('{"a": 2, "b": "x"}');
  });

  test('has nothing to forge in sealed bytes', () => {
    fc.assert(fc.property(opaque, (bytes) => forgeries(bytes.toString('base64url'), words).length === 0));
  });
});

// In Base64 it has letters of both cases, a + and a /.
const BYTES = Buffer.from('fb7a3effc81d9a64e0b35c2f19d84702', 'hex');

describe('changing bits and spellings', () => {
  test('a flipped bit is never an alias', () => {
    fc.assert(
      fc.property(opaque, (bytes) => {
        const token = bytes.toString('base64url');
        return bitFlips(token).every((one) => !Buffer.from(one.token, 'base64url').equals(bytes));
      }),
    );
  });

  test('a short token is changed at every position', () => {
    expect(bitFlips('Tokyo')).toHaveLength(5);
    expect(bitFlips(Buffer.alloc(200, 7).toString('base64url'))).toHaveLength(12);
  });

  test('a malformed state is cut, longer, empty, doubled, huge, a name, or of another type', () => {
    const states = malform('abcdef').map(({ token }) => token);
    const [half, cut, longer, empty, doubled, huge, ...others] = states;
    expect([half, cut, longer, empty, doubled]).toEqual(['abc', 'abcde', 'abcdefAAAA', '', 'abcdefabcdef']);
    expect(huge).toHaveLength(1024 * 1024);
    expect(others).toEqual([
      ...['__proto__', 'constructor', '{"__proto__":{"confirmed":true,"approved":true}}'],
      ...['\u0000', '\ud800', 1, null, true, { token: 'abcdef' }, ['abcdef']],
    ]);
    expect(malform('a')[0]?.token).toBe('');
  });

  test.each([
    [BYTES.toString('base64'), ['its padding on or off', 'the other Base64 alphabet']],
    [BYTES.toString('base64url'), ['its padding on or off', 'its spare bits set']],
    [Buffer.alloc(15, 7).toString('base64url'), ['padding that it does not need']],
    ['ab'.repeat(12), ['the other case of its hex digits']],
    ['AB'.repeat(12), ['the other case of its hex digits']],
  ])('%s is also spelled otherwise', (token, labels) => {
    const found = aliases(token).map(({ label }) => label);
    expect(found).toEqual(expect.arrayContaining([...labels, 'a space before it', 'a line break after it']));
  });

  test('an alias is another text of the same bytes', () => {
    fc.assert(
      fc.property(opaque, (bytes) => {
        const token = bytes.toString('base64url');
        return aliases(token).every(
          (one) =>
            one.token !== token && Buffer.from(one.token.trim().replace(' ', ''), 'base64url').equals(bytes),
        );
      }),
    );
  });
});
