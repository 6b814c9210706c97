/**
 * Tokens of a released version, with their keys. Every later version must open them and seal the same format: during a
 * rolling upgrade, instances of both versions serve one call.
 *
 * A change that fails here needs a new format: seal with the prefix `v2.`, still open `v1.`, and add the tokens of the new
 * format, which a failure prints, to the file. Never change or remove a token in the file.
 */

import { createDecipheriv } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createWorld, GET_WEATHER } from '@mrtr/comparison';
import type { LoadedOption } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { type Binding, openState, sealState, type TokenContent } from '@mrtr/core/internal';
import { derivePseudonym, keyRing, openAtRest, type SealingKey, sealAtRest } from '@mrtr/core/seal';
import { InProcess } from '@mrtr/harness';
import { resultText } from '@mrtr/harness/transcript';
import { expect, onTestFinished, test } from 'vitest';
import { IN_MEMORY, sealsState } from '../testkit/options.ts';

interface Golden {
  /** A key for tests only. */
  readonly key: string;
  /** When the tokens were sealed, in milliseconds since the epoch. */
  readonly sealedAt: number;
  readonly tokens: Readonly<Record<string, string>>;
}

const FILE = new URL('./golden-tokens.json', import.meta.url);
const { key: SECRET, sealedAt, tokens }: Golden = JSON.parse(readFileSync(FILE, 'utf8'));
const RING = keyRing([SECRET]);
const KEY = RING[0] as SealingKey;

const BINDING: Binding = {
  method: 'tools/call',
  target: 'deploy',
  arguments: { service: 'shop', replicas: 3 },
  audience: 'golden',
  principal: 'alice',
};
const CONTENT: TokenContent = {
  callId: Buffer.alloc(16, 'call').toString('base64url'),
  round: 1,
  asked: new Map([['sure', Buffer.alloc(16, 'digest').toString('base64url')]]),
  timesAsked: new Map([['sure', 1]]),
  timesUnfit: new Map(),
  hasGivenUp: false,
  payload: 'plan',
  version: undefined,
};

interface Mode {
  readonly content?: Partial<TokenContent>;
  readonly binding?: Partial<Binding>;
  readonly routingLabel?: string;
}
const several = ['units', 'größe'].map(
  (key, at) => [key, Buffer.alloc(16, key).toString('base64url'), at + 1] as const,
);
const MODES: Readonly<Record<string, Mode>> = {
  'a tool with state': {},
  'no state': { content: { payload: undefined } },
  'a version': { content: { version: 'größer-2' } },
  'a routing label': { routingLabel: 'i-2' },
  'a prompt': { binding: { method: 'prompts/get', target: 'report', arguments: { of: 'shop' } } },
  'a resource': { binding: { method: 'resources/read', target: 'config://shop', arguments: undefined } },
  'an anonymous caller': { binding: { principal: undefined } },
  'several questions': {
    content: {
      asked: new Map(several.map(([key, digest]) => [key, digest])),
      timesAsked: new Map(several.map(([key, , times]) => [key, times])),
      round: 2,
    },
  },
  'answers that did not fit': {
    content: {
      asked: new Map(several.map(([key, digest]) => [key, digest])),
      timesAsked: new Map(several.map(([key, , times]) => [key, times])),
      timesUnfit: new Map([['größe', 2]]),
      hasGivenUp: true,
      round: 2,
    },
  },
};

/** Decrypts a token without the codec into its prefix, key, plaintext and label. */
function readToken(token: string, key: SealingKey) {
  const [, prefix = '', sealed = '', label = ''] = /^(\w+\.)([\w-]+)(~.*)?$/.exec(token) ?? [];
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key.cipher, bytes.subarray(2, 14), { authTagLength: 16 });
  decipher.setAAD(Buffer.concat([Buffer.from(prefix), key.id, Buffer.from(label)]));
  decipher.setAuthTag(bytes.subarray(-16));
  const plain = Buffer.concat([decipher.update(bytes.subarray(14, -16)), decipher.final()]);
  return { prefix, label, keyId: bytes.toString('hex', 0, 2), plain: plain.toString('hex') };
}

function goldenOf(name: string, today: string): string {
  const token = tokens[name];
  if (token !== undefined) return token;
  throw new Error(
    `tests/operations/golden-tokens.json has no token of '${name}'. Add today's to "tokens": ${JSON.stringify({ [name]: today })}`,
  );
}

test.each(Object.entries(MODES))('the golden token of %s opens, and today’s is the same', (name, mode) => {
  const binding = { ...BINDING, ...mode.binding };
  const content = { ...CONTENT, ...mode.content };
  const { routingLabel } = mode;
  const today = sealState(content, { binding, issuedAt: sealedAt, ttlSeconds: 600, routingLabel }, KEY);
  const golden = goldenOf(name, today);
  const times = { issuedAt: sealedAt, expiresAt: sealedAt + 600_000 };
  const opened = openState(golden, binding, sealedAt + 1, RING);
  expect(opened).toEqual({ ...content, ...times, id: expect.any(String) });
  expect(
    readToken(today, KEY),
    'The format has changed: give it a new version. See the top of this file.',
  ).toEqual(readToken(golden, KEY));
});

test('what a store or a ledger sealed opens, and pseudonyms stay', () => {
  const today = sealAtRest('a result', 'token result', RING).toString('base64url');
  const golden = goldenOf('at rest', today);
  expect(openAtRest(Buffer.from(golden, 'base64url'), 'token result', RING)).toBe('a result');
  expect(today).toHaveLength(golden.length);
  expect(derivePseudonym('alice', KEY)).toBe(goldenOf('pseudonym', derivePseudonym('alice', KEY)));
});

const SEALING = IN_MEMORY.filter(sealsState);
const ANSWERS = { units: { action: 'accept', content: { units: 'metric' } } };
const call = { name: GET_WEATHER, arguments: { location: 'Tokyo' } };

function serve(option: LoadedOption) {
  const policy = { keys: [SECRET], audience: 'golden', principal: () => 'alice', now: () => sealedAt };
  const running = option.create({
    world: createWorld(),
    policy: requestStatePolicy({ ...policy, singleUse: false, ttlSeconds: 600 }),
  });
  const face = new InProcess(() => running.server());
  onTestFinished(async () => {
    await face.close();
    await running.close();
  });
  return (more: object) => face.post('tools/call', { ...call, ...more });
}

test('no golden token is gone', () => {
  expect(SEALING.length).toBeGreaterThan(5);
  expect(Object.keys(tokens).length).toBeGreaterThanOrEqual(21);
});

test.each(SEALING.map((option) => [option.id, option] as const))(
  'the golden token of option %s is answered by today’s code, and today’s keeps the same state',
  async (id, option) => {
    const send = serve(option);
    const today = String((await send({})).result?.requestState);
    const golden = goldenOf(`option ${id}`, today);
    // A frame of H ended with its process. Its token opens, and the error says so.
    const holdsFrame = option.claims.modern.framesHeld === 1;
    const { result = {} } = await send({ requestState: golden, inputResponses: ANSWERS });
    expect(resultText(result)).toMatch(holdsFrame ? /cannot be resumed here/ : /^Weather in Tokyo: 22°C/);
    const binding: Binding = { ...BINDING, target: call.name, arguments: call.arguments };
    const [then, now] = [golden, today].map((token) => {
      const opened = openState(token, binding, sealedAt, RING);
      if ('rejected' in opened) throw new Error(opened.rejected.detail);
      // Ids of calls and frames are random.
      const payload = opened.payload?.replaceAll(/[\w-]{22}/g, (text) => 'x'.repeat(text.length));
      return { ...opened, id: '', callId: '', payload };
    });
    expect(now, 'The state of this shape has changed: old and new instances must read both.').toEqual(then);
  },
);
