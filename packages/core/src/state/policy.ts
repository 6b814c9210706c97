/** How a server protects the request state that travels through its clients. */
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import type { LegacyPolicy } from '../call.ts';
import { InvalidPolicy } from '../errors.ts';
import { requireOptions } from '../options.ts';
import { processWide, warnOnce } from '../process-wide.ts';
import { Quota } from '../quota.ts';
import { MAX_QUESTIONS, MAX_ROUND, MAX_TTL_SECONDS } from './codec.ts';
import { ephemeralRing, keyRing, type SealingKey } from './key-ring.ts';
import { MemoryLedger, type StateLedger } from './ledger.ts';
import { POLICY_CHECKS } from './policy-options.ts';
import type { SecondPresentation, SingleUsePolicy } from './single-use.ts';
import { type StateVersions, stateVersions, type VersionOptions } from './versions.ts';

/** The options of {@link requestStatePolicy}. Everything has a default. */
export interface RequestStateOptions extends VersionOptions {
  /**
   * Secrets of at least 32 bytes each. The first seals; all open. Give all instances the same. Default: one random key
   * for this process, so neither another instance nor a restarted one can resume a call. For an unset environment
   * variable, `InvalidPolicy` names its place in the list.
   */
  readonly keys?: readonly (Uint8Array | string | undefined)[] | undefined;
  /** How long a user may take to answer one round, in seconds. Default 600. */
  readonly ttlSeconds?: number | undefined;
  /** Limit of a sealed token in bytes, in both directions. Default 65 536. */
  readonly maxBytes?: number | undefined;
  /** How many rounds of one call may ask. Default 10, the number of retries that the SDK's client makes. */
  readonly maxRounds?: number | undefined;
  /** Questions that one round may ask, at most 255. Default 32: a user has to fill in a form for each. */
  readonly maxQuestions?: number | undefined;
  /**
   * Limit of one answer, in bytes of JSON. Default 16 384, so that several fit into `maxBytes` of state. A request
   * with a larger answer, or one nested deeper than 200 levels, is refused before its handler runs. Its state stays
   * valid.
   */
  readonly maxAnswerBytes?: number | undefined;
  /**
   * Servers with the same keys and the same audience may use each other's tokens. Default: the server's name, if
   * `protectedServer` builds the server.
   */
  readonly audience?: string | undefined;
  /**
   * Identifies the caller; undefined for an anonymous one. May be asynchronous. Default, from a validated access
   * token: its issuer, its `clientId` and the `sub` that the verifier put into `extra`; without a `sub`, the token
   * itself. An error stays inside: the client gets `-32603`, and `onerror` gets the reason.
   */
  readonly principal?: ((ctx: ServerContext) => string | undefined | Promise<string | undefined>) | undefined;
  /**
   * Whether the SDK's shim asks old clients. Default `shim`, as in the SDK. If you build the server without
   * `protectedServer`, set its `inputRequired.legacyShim` to match.
   */
  readonly legacy?: LegacyPolicy | undefined;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /**
   * Makes state single-use: a token is served once. `reject` answers a second presentation with the frozen error.
   * `replay` answers it with the first one's result, so that a client that lost the result can retry. `false`: a retry
   * that is sent twice is served twice. Default: `replay` with a `ledger`, and also without `keys`, since that is one
   * process; else off, with one warning.
   */
  readonly singleUse?: SecondPresentation | false | undefined;
  /** Records presented tokens, for all instances that share it. Default, with `singleUse`: this process's own. */
  readonly ledger?: StateLedger | undefined;
  /** How long serving one round may take, in seconds, before it counts as lost. Default 300. */
  readonly leaseSeconds?: number | undefined;
  /** How long the ledger may take to decide, in seconds; after that the round is refused. Default 5. */
  readonly claimSeconds?: number | undefined;
  /**
   * Limit of a result that the ledger records, in bytes. Default 16 384. A larger one is not repeated: the answer to a
   * second presentation only says that the step was done.
   */
  readonly maxResultBytes?: number | undefined;
  /** Requests whose handlers run at once, in this process. Default 1000. A handler counts until it has settled. */
  readonly maxCalls?: number | undefined;
  /** The same, of one principal. Default 64. Anonymous callers share `maxCalls`. */
  readonly maxCallsPerPrincipal?: number | undefined;
  /**
   * Gets every refusal and failure whose reason the client does not see: rejected state, errors of the ledger and of
   * `principal`, state over the limits. Called in addition to the server's own `onerror`. `createMcpHandler({ onerror })`
   * gets none of them.
   */
  readonly onerror?: ((error: Error) => void) | undefined;
  /**
   * Answers to questions that were not asked in the round before: `drop` removes them before a handler sees them
   * (the default); `accept` lets them pass, for all targets or for the named ones. Then only the handlers check them.
   */
  readonly unaskedAnswers?: 'drop' | 'accept' | { readonly accept: readonly string[] } | undefined;
}

/** A checked policy. Make it once and give it to every server instance: stretching keys takes time. */
export interface RequestStatePolicy {
  readonly ring: readonly SealingKey[];
  readonly ttlSeconds: number;
  readonly maxBytes: number;
  readonly maxRounds: number;
  readonly maxQuestions: number;
  readonly maxAnswerBytes: number;
  readonly audience: string | undefined;
  readonly principal: (ctx: ServerContext) => string | undefined | Promise<string | undefined>;
  readonly legacy: LegacyPolicy;
  readonly now: () => number;
  readonly singleUse: SingleUsePolicy | undefined;
  readonly versions: StateVersions;
  /** Counts the handlers that run. */
  readonly running: Quota;
  readonly onerror: (error: Error) => void;
  readonly unaskedAnswers: 'drop' | 'accept' | { readonly accept: readonly string[] };
}

/**
 * Checks the options and stretches the keys.
 *
 * @throws InvalidPolicy naming the option that is wrong, and what to do.
 * @example const policy = requestStatePolicy({ keys: [process.env.STATE_KEY] });
 */
export function requestStatePolicy(options: RequestStateOptions = {}): RequestStatePolicy {
  requireOptions<RequestStateOptions>('requestStatePolicy', options, POLICY_CHECKS);
  return {
    ring: options.keys === undefined ? ephemeralRing() : keyRing(options.keys),
    ttlSeconds: within('ttlSeconds', options.ttlSeconds ?? 600, MAX_TTL_SECONDS),
    maxBytes: within('maxBytes', options.maxBytes ?? 65_536),
    maxRounds: within('maxRounds', options.maxRounds ?? 10, MAX_ROUND),
    maxQuestions: within('maxQuestions', options.maxQuestions ?? 32, MAX_QUESTIONS),
    maxAnswerBytes: within('maxAnswerBytes', options.maxAnswerBytes ?? 16_384),
    audience: options.audience,
    principal: options.principal ?? ((ctx) => tokenPrincipal(ctx.http?.authInfo)),
    legacy: options.legacy ?? 'shim',
    now: options.now ?? Date.now,
    singleUse: singleUse(options),
    versions: stateVersions(options),
    running: new Quota(
      within('maxCalls', options.maxCalls ?? 1000),
      within('maxCallsPerPrincipal', options.maxCallsPerPrincipal ?? 64),
    ),
    onerror: options.onerror ?? (() => {}),
    unaskedAnswers: options.unaskedAnswers ?? 'drop',
  };
}

function singleUse(options: RequestStateOptions): SingleUsePolicy | undefined {
  const { keys, ledger, now, singleUse: chosen } = options;
  const second = chosen ?? (ledger || keys === undefined ? 'replay' : false);
  if (keys !== undefined && ledger === undefined && chosen !== false) warnOfRepeatableState();
  if (second === false) return undefined;
  const leaseSeconds = within('leaseSeconds', options.leaseSeconds ?? 300, MAX_TTL_SECONDS);
  return {
    ledger: ledger ?? (now ? new MemoryLedger({ now }) : processLedger()),
    second,
    leaseSeconds,
    claimSeconds: within('claimSeconds', options.claimSeconds ?? 5, 3600),
    maxResultBytes: within('maxResultBytes', options.maxResultBytes ?? 16_384),
  };
}

/** One ledger per process, shared by all policies, so that a policy made per request knows earlier presentations. */
const processLedger = (): MemoryLedger => processWide('process-ledger', () => new MemoryLedger());

const warnOfRepeatableState = (): void =>
  warnOnce(
    'MRTR_REPEATABLE_STATE',
    'requestStatePolicy has `keys`, for several instances, and no `ledger` that they share: a retry that is sent to ' +
      'two of them is served twice, and its effects happen twice. Give all instances one `ledger`, or set ' +
      '`singleUse: false` if you accept that.',
  );

function within(name: string, value: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new InvalidPolicy(`${name} must be a whole number from 1 to ${most}; it is ${value}.`);
}

/** The principal of an access token: its issuer, its client and its subject. */
export function tokenPrincipal(token: AuthInfo | undefined): string | undefined {
  if (!token) return undefined;
  const { iss, sub } = token.extra ?? {};
  // Without a subject, two users of one client would be one principal. Their tokens at least differ.
  const subject = typeof sub === 'string' ? { sub } : { token: token.token };
  return JSON.stringify([typeof iss === 'string' ? iss : null, token.clientId, subject]);
}
