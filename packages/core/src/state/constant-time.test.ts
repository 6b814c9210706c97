/**
 * The time of a rejection does not depend on where a token first differs. These tests use no clock: they show that the
 * same primitives of `node:crypto` run over the same lengths.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test } from 'vitest';
import type { Binding } from './binding.ts';
import { bytesOf, KEY, NOW, open, seal, tokenOf } from './sealed.test-support.ts';

/** Records the primitives that are called until the test ends, with the lengths that they are given. */
function primitives(): { of(run: () => unknown): string[] } {
  const { createDecipheriv, hash, timingSafeEqual } = crypto;
  let calls: string[] = [];
  crypto.timingSafeEqual = (one, other) => {
    calls.push(`timingSafeEqual ${one.byteLength} ${other.byteLength}`);
    return timingSafeEqual(one, other);
  };
  crypto.hash = ((...args: Parameters<typeof hash>) => {
    calls.push(`hash ${args[0]}`);
    return hash(...args);
  }) as typeof hash;
  crypto.createDecipheriv = ((...args: Parameters<typeof createDecipheriv>) => {
    const decipher = createDecipheriv(...args);
    const final = decipher.final.bind(decipher);
    decipher.final = ((...rest: []) => {
      calls.push(`final of ${args[0]}`);
      return final(...rest);
    }) as typeof decipher.final;
    return decipher;
  }) as typeof createDecipheriv;
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(crypto, { createDecipheriv, hash, timingSafeEqual });
    syncBuiltinESMExports();
  });
  return {
    of(run) {
      calls = [];
      run();
      return calls;
    },
  };
}

const TOKEN = seal('{"sure":true}');

test('for each changed byte the whole token is authenticated, and nothing else is computed', () => {
  const { of } = primitives();
  const bytes = bytesOf(TOKEN);
  for (let at = 2; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(
      of(() => open(tokenOf(changed), {}, NOW, [KEY])),
      `byte ${at}`,
    ).toEqual(['final of aes-256-gcm']);
  }
});

const EVERYTHING = ['final of aes-256-gcm', 'hash sha256', 'timingSafeEqual 18 18'];

test.each<[string, Partial<Binding>]>([
  ['nothing', {}],
  ['the method', { method: 'prompts/get' }],
  ['the first letter of the target', { target: 'xeploy' }],
  ['the last letter of the target', { target: 'deplox' }],
  ['the audience', { audience: 'other-server' }],
  ['the principal', { principal: 'mallory' }],
  ['the arguments', { arguments: { service: 'shop', replicas: 4 } }],
  ['everything', { method: 'resources/read', target: 'x', audience: 'x', principal: 'x', arguments: {} }],
])('where %s differs, the whole binding is compared at once, in constant time', (_what, over) => {
  expect(primitives().of(() => open(TOKEN, over))).toEqual(EVERYTHING);
});
