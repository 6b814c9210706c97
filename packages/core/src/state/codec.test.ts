import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_ROUND, sealState, type TokenContent, tokenLength } from './codec.ts';
import { keyRing, type SealingKey } from './key-ring.ts';
import { BINDING, bytesOf, EMPTY, KEY, NOW, open, SEAL, seal } from './sealed.test-support.ts';

// Well-formed, since a token holds UTF-8; with a byte order mark and a NUL, which some decoders remove.
const anyText = (maxLength: number) =>
  fc.string({
    unit: fc.oneof(fc.constantFrom('\ufeff', '\0', '\r\n', '"', 'é', '😀'), fc.string({ unit: 'binary' })),
    maxLength,
  });
const sixteenBytes = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const oddKey = fc.constantFrom('', '__proto__', 'constructor', '\0', '~i2', '0', 'k'.repeat(65_535));
const anyAsked = fc
  .array(fc.tuple(fc.oneof({ weight: 3, arbitrary: anyText(20) }, oddKey), sixteenBytes), { maxLength: 12 })
  .map((entries) => new Map(entries));
const anyContent: fc.Arbitrary<TokenContent> = fc
  .record({
    callId: sixteenBytes,
    round: fc.integer({ min: 1, max: MAX_ROUND }),
    asked: anyAsked,
    times: fc.integer({ min: 1, max: MAX_ROUND }),
    unfit: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }),
    hasGivenUp: fc.boolean(),
    payload: fc.option(anyText(200), { nil: undefined }),
    // A policy takes versions of at most 255 bytes.
    version: fc.option(
      anyText(60).filter((text) => Buffer.byteLength(text) <= 255),
      { nil: undefined },
    ),
  })
  .map(({ times, unfit, ...content }) => {
    const keys = [...content.asked.keys()];
    const counted = keys.flatMap((key, at) => (unfit[at] ? [[key, unfit[at]] as const] : []));
    // Beside a count of answers that did not fit, there is room for 63 times.
    const most = counted.length > 0 ? 63 : MAX_ROUND;
    return {
      ...content,
      timesAsked: new Map(keys.map((key, at) => [key, 1 + ((times + at) % most)])),
      timesUnfit: new Map(counted),
    };
  });
const anyLabel = fc.option(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/), { nil: undefined });

test('a token opens to the content that was sealed, with every key, state, version, label and clock', () => {
  fc.assert(
    fc.property(
      anyContent,
      anyLabel,
      fc.integer({ min: 0, max: 2 ** 48 - 1 }),
      fc.integer({ min: 1, max: 0xff_ffff }),
      (content, routingLabel, issuedAt, ttlSeconds) => {
        const token = sealState(content, { binding: BINDING, issuedAt, ttlSeconds, routingLabel }, KEY);
        const opened = open(token, {}, issuedAt);
        expect(opened).toEqual({
          ...content,
          id: bytesOf(token.split('~')[0] as string).toString('base64url', 2, 14),
          issuedAt,
          expiresAt: issuedAt + ttlSeconds * 1000,
        });
        // `toEqual` ignores the order of a map's entries.
        expect('asked' in opened && [...opened.asked]).toEqual([...content.asked]);
      },
    ),
    { numRuns: 300 },
  );
});

test('the length of a token is known before it is sealed', () => {
  fc.assert(
    fc.property(anyContent, anyLabel, (content, routingLabel) => {
      const token = sealState(content, { ...SEAL, routingLabel }, KEY);
      expect(token.length).toBe(tokenLength(content.asked.keys(), content, routingLabel));
      expect(token).toMatch(/^v1\.[\w-]+(~[\w.-]+)?$/);
    }),
    { numRuns: 200 },
  );
});

test('no arguments and empty arguments are the same call', () => {
  const token = seal('p', { binding: { ...BINDING, arguments: undefined } });
  expect(open(token, { arguments: {} })).toMatchObject({ payload: 'p' });
});

test('a token that an earlier build sealed still opens', () => {
  const token =
    'v1.gKcCzVC48x0wlQeorGOxO6goSSigmnfKDBqPJRTt0I_7cnJm3Rw0LvJ2Mlsq_iWfaEyWbd4q84LO9Egx4G4hljcdufDrSYrVRDWe-r' +
    'U5bi6ZMCG4lGmgPkdkwNZTmkUIDZwJuhzWLquPUhl5RQ';
  expect(open(token)).toEqual({
    callId: EMPTY.callId,
    round: 3,
    asked: new Map([['units', 'AAECAwQFBgcICQoLDA0ODw']]),
    timesAsked: new Map([['units', 2]]),
    timesUnfit: new Map(),
    hasGivenUp: false,
    payload: '{"a":1}',
    version: '7',
    id: 'As1QuPMdMJUHqKxj',
    issuedAt: NOW,
    expiresAt: NOW + 600_000,
  });
});

test('a thousand tokens with equal content have a thousand ids', () => {
  const tokens = Array.from({ length: 1000 }, () => seal('p'));
  const ids = tokens.map((token) => open(token)).map((opened) => 'id' in opened && opened.id);
  expect(new Set(ids).size).toBe(1000);
});

test('a token shows nothing of its content or of its binding', () => {
  const secret = 'correct horse battery staple';
  const asked = new Map([[secret, EMPTY.callId]]);
  const binding = { ...BINDING, target: secret, principal: secret };
  const bytes = bytesOf(seal(secret.repeat(4), { binding, asked, version: secret }));
  for (const hidden of [secret, KEY.cipher.export(), Buffer.alloc(16, 'call')]) {
    expect(bytes.includes(hidden)).toBe(false);
  }
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

test('two keys with the same id are both tried', () => {
  const [one, other] = namesakes();
  expect(one.cipher.equals(other.cipher)).toBe(false);
  for (const ring of [
    [one, other],
    [other, one],
  ]) {
    expect(open(seal('by one', {}, one), {}, NOW, ring)).toMatchObject({ payload: 'by one' });
    expect(open(seal('by other', {}, other), {}, NOW, ring)).toMatchObject({ payload: 'by other' });
  }
  expect(open(seal('p', {}, one), {}, NOW, [other])).toEqual({
    rejected: { reason: 'invalid', detail: 'tampered' },
  });
});
