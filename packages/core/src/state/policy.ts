/** How a server protects the request state that travels through its clients. */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { LegacyPolicy } from '../call.ts';
import { InvalidPolicy } from '../errors.ts';
import { MAX_ROUND, MAX_TTL_SECONDS } from './codec.ts';
import { ephemeralRing, keyRing, type SealingKey } from './key-ring.ts';
import { MemoryLedger, type StateLedger } from './ledger.ts';
import type { SecondPresentation, SingleUsePolicy } from './single-use.ts';

/** What {@link requestStatePolicy} takes. Everything has a default. */
export interface RequestStateOptions {
  /**
   * Secrets of at least 32 bytes each. The first seals, all open. Left out: one random key for this process,
   * so no other instance and no restarted one can go on with a call.
   */
  readonly keys?: readonly (Uint8Array | string)[] | undefined;
  /** How long a user may take to answer one round, in seconds. Default 600. */
  readonly ttlSeconds?: number | undefined;
  /** Ceiling of a sealed token in bytes, in both directions. Default 65 536. */
  readonly maxBytes?: number | undefined;
  /** Rounds of one call. Default 10, as many as the SDK's client makes. */
  readonly maxRounds?: number | undefined;
  /** Questions that one round may ask. Default 32: each one is a form in front of somebody. */
  readonly maxQuestions?: number | undefined;
  /** Ceiling of one answer, in bytes of JSON. Default 16 384, so that some fit
   * into `maxBytes` of state. A request with a larger one, or
   * with one nested deeper than 200 levels, is refused before anything of it runs, and its state stays good. */
  readonly maxAnswerBytes?: number | undefined;
  /** Who may use a token: servers with the same keys and the same audience. Default: the server's name, where
   * {@link protectedServer} builds the server. */
  readonly audience?: string | undefined;
  /**
   * Who is calling. Default, from a validated access token: its `clientId` with the `sub` that the verifier
   * put into `extra`, or, where it put none, the token itself; undefined where there is no access token.
   */
  readonly principal?: ((ctx: ServerContext) => string | undefined) | undefined;
  /** Whether the SDK's shim asks old clients. Default `shim`, as the SDK's. A server that `protectedServer` does
   * not build must say the same in its `inputRequired.legacyShim`. */
  readonly legacy?: LegacyPolicy | undefined;
  /** The clock, in milliseconds. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /**
   * Makes state single-use: a token that was presented is not served again. `reject` answers a second presentation
   * with the frozen error; `replay` with the first one's result, so that a client that lost it can retry. Every
   * `input_required` result then carries state, and answers that come without it are not passed on. Default: off,
   * or `replay` where a `ledger` is given.
   */
  readonly singleUse?: SecondPresentation | undefined;
  /** Remembers presented tokens, for all instances. Default, with `singleUse`: a `MemoryLedger` of this process. */
  readonly ledger?: StateLedger | undefined;
  /** How long serving one round may take, in seconds, before it counts as lost. Default 300. */
  readonly leaseSeconds?: number | undefined;
}

/** A checked policy. Make it once and hand it to every server instance: stretching keys is not free. */
export interface RequestStatePolicy {
  readonly ring: readonly SealingKey[];
  /** Whether the ring is a random one of this process. */
  readonly ephemeral: boolean;
  readonly ttlSeconds: number;
  readonly maxBytes: number;
  readonly maxRounds: number;
  readonly maxQuestions: number;
  readonly maxAnswerBytes: number;
  readonly audience: string | undefined;
  readonly principal: (ctx: ServerContext) => string | undefined;
  readonly legacy: LegacyPolicy;
  readonly now: () => number;
  readonly singleUse: SingleUsePolicy | undefined;
}

/**
 * Checks the options and stretches the keys.
 *
 * @throws InvalidPolicy naming the option that cannot be honoured.
 */
export function requestStatePolicy(options: RequestStateOptions = {}): RequestStatePolicy {
  return {
    ring: options.keys ? keyRing(options.keys) : ephemeralRing(),
    ephemeral: options.keys === undefined,
    ttlSeconds: within('ttlSeconds', options.ttlSeconds ?? 600, MAX_TTL_SECONDS),
    maxBytes: within('maxBytes', options.maxBytes ?? 65_536, Number.MAX_SAFE_INTEGER),
    maxRounds: within('maxRounds', options.maxRounds ?? 10, MAX_ROUND),
    maxQuestions: within('maxQuestions', options.maxQuestions ?? 32, Number.MAX_SAFE_INTEGER),
    maxAnswerBytes: within('maxAnswerBytes', options.maxAnswerBytes ?? 16_384, Number.MAX_SAFE_INTEGER),
    audience: options.audience,
    principal: options.principal ?? tokenPrincipal,
    legacy: options.legacy ?? 'shim',
    now: options.now ?? Date.now,
    singleUse: singleUse(options),
  };
}

function singleUse({
  ledger,
  singleUse: second,
  leaseSeconds,
  now,
}: RequestStateOptions): SingleUsePolicy | undefined {
  if (ledger === undefined && second === undefined) return undefined;
  return {
    ledger: ledger ?? new MemoryLedger(now && { now }),
    second: second ?? 'replay',
    leaseSeconds: within('leaseSeconds', leaseSeconds ?? 300, MAX_TTL_SECONDS),
  };
}

function within(name: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new InvalidPolicy(`${name} must be a whole number from 1 to ${most}; it is ${value}.`);
}

function tokenPrincipal(ctx: ServerContext): string | undefined {
  const token = ctx.http?.authInfo;
  if (!token) return undefined;
  const subject = token.extra?.sub;
  // Without a subject, two users of one client would be one principal; the token at least tells them apart.
  return JSON.stringify([token.clientId, typeof subject === 'string' ? { subject } : { token: token.token }]);
}
