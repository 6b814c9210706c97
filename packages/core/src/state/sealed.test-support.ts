/** One sealed token, and what it takes to open it: what the tests of the codec vary. */
import type { Binding } from './binding.ts';
import { type Opened, openState, type Seal, sealState } from './codec.ts';
import { keyRing, type SealingKey } from './key-ring.ts';

/** Midday on the day the revision was published, in seconds. */
export const NOW = 1_785_240_000;

export const [KEY, OTHER_KEY] = keyRing(['k'.repeat(32), 'o'.repeat(32)]) as [SealingKey, SealingKey];

export const BINDING: Binding = {
  method: 'tools/call',
  target: 'deploy',
  arguments: { service: 'shop', replicas: 3 },
  audience: 'test-server',
  principal: 'alice',
};

export const SEAL: Seal = { binding: BINDING, round: 1, issuedAt: NOW, ttlSeconds: 600 };

export const seal = (payload: string, over: Partial<Seal> = {}, key: SealingKey = KEY): string =>
  sealState(payload, { ...SEAL, ...over }, key);

export const open = (
  token: string,
  over: Partial<Binding> = {},
  now: number = NOW,
  ring: readonly SealingKey[] = [KEY],
): Opened => openState(token, { ...BINDING, ...over }, now, ring);

/** The bytes of a token, behind its prefix. */
export const bytesOf = (token: string): Buffer => Buffer.from(token.slice(3), 'base64url');

/** The token of `bytes`, in the one spelling that is accepted. */
export const tokenOf = (bytes: Uint8Array): string => `v1.${Buffer.from(bytes).toString('base64url')}`;
