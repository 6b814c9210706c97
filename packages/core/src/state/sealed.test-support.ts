/** A sealed token and its request, which the tests of the codec vary. */
import type { Binding } from './binding.ts';
import { type OpenResult, openState, type SealOptions, sealState, type TokenContent } from './codec.ts';
import { keyRing, type SealingKey } from './key-ring.ts';

/** A time in the middle of a second, on the day the revision was published; in milliseconds. */
export const NOW = 1_785_240_000_500;

export const [KEY, OTHER_KEY] = keyRing(['k'.repeat(32), 'o'.repeat(32)]) as [SealingKey, SealingKey];

export const BINDING: Binding = {
  method: 'tools/call',
  target: 'deploy',
  arguments: { service: 'shop', replicas: 3 },
  audience: 'test-server',
  principal: 'alice',
};

export const SEAL: SealOptions = { binding: BINDING, issuedAt: NOW, ttlSeconds: 600 };

/** The content of a token that asks nothing and holds no state. */
export const EMPTY: TokenContent = {
  callId: Buffer.alloc(16, 'call').toString('base64url'),
  round: 1,
  asked: new Map(),
  timesAsked: new Map(),
  timesUnfit: new Map(),
  hasGivenUp: false,
  payload: undefined,
  version: undefined,
};

export const seal = (
  payload: string | undefined,
  over: Partial<TokenContent & SealOptions> = {},
  key: SealingKey = KEY,
): string => sealState({ ...EMPTY, payload, ...over }, { ...SEAL, ...over }, key);

export const open = (
  token: string,
  over: Partial<Binding> = {},
  now: number = NOW,
  ring: readonly SealingKey[] = [KEY],
): OpenResult => {
  const opened = openState(token, { ...BINDING, ...over }, now, ring);
  return 'rejected' in opened ? { rejected: opened.rejected } : opened;
};

/** The bytes of a token, behind its prefix. */
export const bytesOf = (token: string): Buffer => Buffer.from(token.slice(3), 'base64url');

/** The token of `bytes`, in its only accepted spelling. */
export const tokenOf = (bytes: Uint8Array): string => `v1.${Buffer.from(bytes).toString('base64url')}`;
