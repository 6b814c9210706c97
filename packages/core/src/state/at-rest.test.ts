import fc from 'fast-check';
import { expect, test } from 'vitest';
import { derivePseudonym, openAtRest, sealAtRest } from './at-rest.ts';
import { openState, sealState } from './codec.ts';
import { keyRing } from './key-ring.ts';
import { EMPTY, KEY, OTHER_KEY } from './sealed.test-support.ts';

const [oldSecret, newSecret] = ['o'.repeat(32), 'n'.repeat(32)];
const ring = keyRing([oldSecret]);

test('a text that was sealed for a place opens at that place', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (plain, place) => {
      expect(openAtRest(sealAtRest(plain, place, ring), place, ring)).toBe(plain);
    }),
  );
});

test('a value that was moved to another place does not open', () => {
  expect(openAtRest(sealAtRest('paid', 'call 1', ring), 'call 2', ring)).toBeUndefined();
});

test('a value with a changed byte, or cut short, does not open', () => {
  const sealed = sealAtRest('paid', 'call 1', ring);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(openAtRest(changed, 'call 1', ring)).toBeUndefined();
    expect(openAtRest(sealed.subarray(0, at), 'call 1', ring)).toBeUndefined();
  }
});

test('after a rotation the new key seals and the old one still opens', () => {
  const rotated = keyRing([newSecret, oldSecret]);
  expect(openAtRest(sealAtRest('old', 'p', ring), 'p', rotated)).toBe('old');
  expect(openAtRest(sealAtRest('new', 'p', rotated), 'p', ring)).toBeUndefined();
  expect(openAtRest(sealAtRest('new', 'p', rotated), 'p', keyRing([newSecret]))).toBe('new');
});

test('the key at rest is not the key of tokens: neither opens a value that the other sealed', () => {
  const [key] = ring;
  if (!key) throw new Error('The ring is empty.');
  expect(key.atRest.equals(key.cipher)).toBe(false);
  const binding = {
    method: 'tools/call',
    target: 't',
    arguments: {},
    audience: 'a',
    principal: undefined,
  } as const;
  const content = { ...EMPTY, payload: 'payload' };
  const token = sealState(content, { binding, issuedAt: 1, ttlSeconds: 60 }, key);
  const bytes = Buffer.from(token.slice(3), 'base64url');
  expect(openAtRest(bytes, `v1.${key.id}`, ring)).toBeUndefined();
  const sealed = `v1.${sealAtRest('payload'.repeat(12), 'p', ring).toString('base64url')}`;
  expect(openState(sealed, binding, 2, ring)).toEqual({
    rejected: { reason: 'invalid', detail: 'tampered' },
  });
});

test('a pseudonym is the same for one text and key, and differs for another text or key', () => {
  expect(derivePseudonym('ada', KEY)).toBe(derivePseudonym('ada', { ...KEY }));
  const all = [derivePseudonym('ada', KEY), derivePseudonym('eve', KEY), derivePseudonym('ada', OTHER_KEY)];
  expect(new Set(all).size).toBe(3);
  for (const name of all) expect(name).toMatch(/^[\w-]{22}$/);
});
