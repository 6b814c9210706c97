/** The policy: how a server protects request state. */
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import { addGauge } from '../diagnostics/gauges.ts';
import { POLICY, tellOperator } from '../diagnostics/operator.ts';
import { InvalidOption } from '../errors.ts';
import {
  aBoolean,
  aFunction,
  anObjectWith,
  anyValue,
  asDefinedIfGiven,
  aText,
  limitsOf,
  listOf,
  type OptionCheck,
  oneOf,
  requireOptions,
  wholeNumber,
  wholeSeconds,
  withDefaults,
} from '../options.ts';
import { processWide, warnOnce } from '../process-wide.ts';
import { MAX_ROUND, MAX_TTL_SECONDS } from '../state/codec.ts';
import {
  ephemeralRing,
  type KeyRing,
  type Keys,
  keyRing,
  readKeys,
  type Secrets,
} from '../state/key-ring.ts';
import { type StateVersions, stateVersions, type VersionOptions } from '../state/versions.ts';
import type { LegacyPolicy } from '../wire/call.ts';
import { isObject, isText } from '../wire/wire.ts';
import { type ServedTokens, type StateLedger, servedTokens } from './ledger.ts';
import { AbandonedQuota, Quota } from './quota.ts';

/** The response to a repeated retry: `reject` rejects it, `replay` repeats the first result. */
type RepeatedRetry = 'reject' | 'replay';

/** A policy's settings for single use. */
export interface SingleUsePolicy {
  readonly ledger: StateLedger | ServedTokens;
  readonly repeatedRetry: RepeatedRetry;
}

/** The limits of a policy. */
interface PolicyLimitOptions {
  /**
   * Requests that this process serves at once. Default 1000. A request counts from its arrival until its handler has
   * ended, also while it waits for the ledger or for another retry. A cancelled one whose handler has not ended frees
   * its place, until as many of them are counted apart; above that, it keeps its place until its handler ends.
   */
  readonly requests?: number | undefined;
  /** Rounds of one call that may ask. Default 10, the number of retries that the SDK's client makes. */
  readonly rounds?: number | undefined;
  /** Bytes of a sealed token, in both directions. Default 65 536. */
  readonly stateBytes?: number | undefined;
  /**
   * The share of `requests` that one principal may take, above 0 and at most 1. Default 1/16. Anonymous callers share all
   * of them. A gateway whose calls all have one principal sets 1.
   */
  readonly perPrincipal?: number | undefined;
}

/** The options of {@link requestStatePolicy}. Everything has a default. */
export interface RequestStateOptions extends VersionOptions {
  /**
   * Secrets of at least 32 bytes each. The first seals; all open. Give all instances the same. Default: one random key
   * for this process, so neither another instance nor a restarted one can resume a call. For an unset environment
   * variable, `InvalidOption` names its place in the list. For keys that change, a function: {@link KeyReadingOptions}.
   */
  readonly keys?: Secrets | undefined;
  /** A user's time to answer one round, in seconds. Default 600. */
  readonly ttlSeconds?: number | undefined;
  /** Limits of what clients make this process do and keep. */
  readonly limits?: PolicyLimitOptions | undefined;
  /**
   * Servers with the same keys and the same audience may use each other's tokens. Default: the server's name, if
   * `protectedServer` builds the server.
   */
  readonly audience?: string | undefined;
  /**
   * Identifies the caller; undefined for an anonymous one. May be asynchronous. By default it combines an access
   * token's issuer, its `clientId` and the `sub` that the verifier put into `extra`; without a `sub`, it uses the token
   * itself. If it throws, the client gets `-32603`, and `onerror` gets the reason.
   */
  readonly principal?: ((ctx: ServerContext) => string | undefined | Promise<string | undefined>) | undefined;
  /**
   * Whether the SDK's shim asks old clients. Default `shim`, as in the SDK. If you build the server without
   * `protectedServer`, set its `inputRequired.legacyShim` to match.
   */
  readonly legacy?: LegacyPolicy | undefined;
  /**
   * Leaves a tool out of `tools/list` if its `asks` need an input that the client did not declare. A call of such a tool
   * ends as before, with what is missing. Only tools that declare `asks` are left out. Default false.
   */
  readonly hideUnaskable?: boolean | undefined;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /**
   * Serves each token once. A client that lost a result may send its retry again: `replay` (the default) repeats the
   * first result, and `reject` rejects the second request like invalid state (`-32602`). `false` turns single use off
   * for the whole server: a retry that is sent twice is served twice, with all its effects. A tool on a `DbosStore`
   * needs no setting: its store serves each token once by itself, and repeats the result.
   */
  readonly singleUse?: RepeatedRetry | false | undefined;
  /**
   * Records used tokens, for all instances that share it. Default: a ledger of this process, which other instances do
   * not see; with `keys`, one warning says so. The default ledger is best effort: when it is full (100 000 tokens), it
   * forgets the oldest served token, with one warning.
   */
  readonly ledger?: StateLedger | undefined;
  /** The time to serve one round, in seconds; after that its outcome counts as lost. Default 300. */
  readonly leaseSeconds?: number | undefined;
  /**
   * Gets every rejection and failure whose reason the client does not see: rejected state, errors of the ledger and of
   * `principal`, state over the limits. Called in addition to the server's own `onerror`; `createMcpHandler({ onerror
   * })` gets nothing. Without both, the first error of each kind becomes a process warning. It is also the default of
   * pages, of a `DbosStore` and of an HTTP hosting. A function that is given in several places gets each error once.
   */
  readonly onerror?: ((error: Error) => void) | undefined;
  /**
   * Targets whose handlers get answers to questions that were not asked in the round before, and check them by themselves.
   * For any other target, such answers are removed before its handler sees them. Default: none.
   */
  readonly unaskedAnswers?: readonly string[] | undefined;
}

/** The options of {@link requestStatePolicy} with keys from a secret manager. */
export interface KeyReadingOptions extends Omit<RequestStateOptions, 'keys'> {
  /**
   * Gives the keys. Called at the start, and again every `keysSeconds`. The first key of the latest list seals; a
   * removed key no longer opens anything. If a reading fails, the old keys stay, and `onerror` gets the error.
   */
  readonly keys: () => Secrets | Promise<Secrets>;
  /** How often `keys` is called again, in seconds. Default 300. */
  readonly keysSeconds?: number | undefined;
}

export const TIME_DEFAULTS = { ttlSeconds: 600, leaseSeconds: 300 };

/** The defaults of a policy's `limits`. */
export const DEFAULT_LIMITS = { requests: 1000, rounds: 10, stateBytes: 65_536, perPrincipal: 1 / 16 };

/** The limits that no option sets. */
export const FIXED_LIMITS = {
  /** Questions of one round. A user has to fill in a form for each. */
  questions: 32,
  /** Bytes of one answer, as JSON. Several fit into the default `stateBytes`. */
  answerBytes: 16_384,
  /** Bytes of a result that the ledger records. */
  resultBytes: 16_384,
  /** The ledger's time to answer. */
  ledgerSeconds: 5,
};

type PolicyOptions = Omit<KeyReadingOptions, 'keys'> & { readonly keys?: unknown };

/** The options that may differ between servers that share a policy's keys, ledger and limits. */
type PolicyChanges = Pick<RequestStateOptions, 'audience' | 'legacy' | 'principal'>;

/**
 * A checked policy with hidden parts. Make one in a process, and give it to every server that you build: limits are counted
 * per policy.
 */
export interface RequestStatePolicy {
  /**
   * A policy with other options that shares the keys, the ledger and the limits.
   *
   * @throws InvalidOption naming the option that is wrong.
   * @example const forUsers = policy.with({ principal: (ctx) => userOf(ctx.http?.authInfo) });
   */
  with(changes: PolicyChanges): RequestStatePolicy;
  readonly [POLICY]: PolicyParts;
}

/** The parts of a policy. */
export interface PolicyParts extends Readonly<typeof TIME_DEFAULTS> {
  readonly limits: Readonly<typeof DEFAULT_LIMITS & typeof FIXED_LIMITS>;
  readonly keys: Keys;
  readonly audience: string | undefined;
  readonly principal: NonNullable<RequestStateOptions['principal']>;
  readonly legacy: LegacyPolicy;
  readonly hideUnaskable: boolean;
  readonly now: () => number;
  readonly singleUse: SingleUsePolicy | undefined;
  readonly versions: StateVersions;
  /** Counts the requests that are being served. */
  readonly running: Quota;
  /** Counts the cancelled requests whose handlers have not ended. */
  readonly abandoned: AbandonedQuota;
  readonly onerror: ((error: Error) => void) | undefined;
  readonly unaskedAnswers: readonly string[];
}

/** The parts of a policy. They may change with a release. */
export const partsOf = (policy: RequestStatePolicy): PolicyParts => policy[POLICY];

/** The current keys of a policy, for a store that seals at rest. The first seals; all open. They may change. */
export const keyRingOf = (policy: RequestStatePolicy): KeyRing => partsOf(policy).keys.ring;

/** A policy with other {@link FIXED_LIMITS}, for tests. */
export function withFixedLimits(
  policy: RequestStatePolicy,
  fixed: Partial<typeof FIXED_LIMITS>,
): RequestStatePolicy {
  const parts = partsOf(policy);
  return policyFromParts({ ...parts, limits: { ...parts.limits, ...fixed } });
}

export function policyFromParts(parts: PolicyParts): RequestStatePolicy {
  const policy = {
    with: (changes: PolicyChanges) => {
      const { audience, legacy, principal } = POLICY_CHECKS;
      requireOptions('policy.with', changes, { audience, legacy, principal });
      return policyFromParts(
        withDefaults<Partial<PolicyParts>, PolicyParts>(changes as Partial<PolicyParts>, parts),
      );
    },
  };
  return Object.defineProperty(policy, POLICY, { value: parts }) as RequestStatePolicy;
}

/** Checks an option that takes a policy. */
export const aPolicy: OptionCheck = {
  allowed: 'made by requestStatePolicy',
  isAllowed: (value) => 'keys' in ((value as Partial<RequestStatePolicy> | null | undefined)?.[POLICY] ?? {}),
};

/**
 * Checks the options and stretches the keys. If `keys` is a function, reads the keys now and again every `keysSeconds`.
 *
 * @throws InvalidOption naming the option that is wrong, and what to do.
 * @throws the error of the first reading of the keys.
 * @example const policy = requestStatePolicy({ keys: [process.env.STATE_KEY] });
 * @example const policy = await requestStatePolicy({ keys: () => readKeysOf('shop') });
 */
export function requestStatePolicy(options: KeyReadingOptions): Promise<RequestStatePolicy>;
export function requestStatePolicy(options?: RequestStateOptions): RequestStatePolicy;
export function requestStatePolicy(
  options: RequestStateOptions | KeyReadingOptions = {},
): RequestStatePolicy | Promise<RequestStatePolicy> {
  requireOptions('requestStatePolicy', options, POLICY_CHECKS, GONE_OPTIONS);
  const { keys } = options;
  if (typeof keys === 'function') {
    const { keysSeconds = 300, onerror } = options as KeyReadingOptions;
    const report = (error: Error) => tellOperator(error, onerror);
    return readKeys(keys, keysSeconds, report).then((reader) => policyFromOptions(options, reader));
  }
  if ('keysSeconds' in options && options.keysSeconds !== undefined)
    throw new InvalidOption(
      'requestStatePolicy: keysSeconds needs a function for `keys`, which is called again.',
    );
  return policyFromOptions(options, { ring: keys === undefined ? ephemeralRing() : keyRing(keys) });
}

function policyFromOptions(options: PolicyOptions, keys: Keys) {
  const checks = { rounds: wholeNumber(1, MAX_ROUND) };
  const limits = limitsOf('requestStatePolicy', options.limits, DEFAULT_LIMITS, checks, GONE_LIMITS);
  const { requests, perPrincipal } = limits;
  const running = new Quota(requests, perPrincipal);
  const abandoned = new AbandonedQuota(requests, perPrincipal, (error) =>
    tellOperator(error, options.onerror),
  );
  addGauge('calls.running', running, totalOf);
  addGauge('calls.abandoned', abandoned, totalOf);
  const principal: PolicyParts['principal'] = (ctx) => tokenPrincipal(ctx.http?.authInfo);
  const legacy: LegacyPolicy = 'shim';
  const defaults = {
    ...TIME_DEFAULTS,
    principal,
    legacy,
    hideUnaskable: false,
    now: Date.now,
    unaskedAnswers: [],
  };
  return policyFromParts({
    ...withDefaults(options, defaults),
    audience: options.audience,
    onerror: options.onerror,
    keys,
    running,
    abandoned,
    limits: { ...FIXED_LIMITS, ...limits },
    singleUse: singleUseFrom(options),
    versions: stateVersions(options),
  });
}

const totalOf = ({ total }: Quota) => total;

function singleUseFrom({
  keys,
  ledger,
  now,
  singleUse: repeatedRetry = 'replay',
}: PolicyOptions): SingleUsePolicy | undefined {
  if (repeatedRetry === false) return undefined;
  if (keys !== undefined && ledger === undefined) warnOnce('MRTR_OWN_LEDGER', OWN_LEDGER);
  return { ledger: ledger ?? ownLedger(now), repeatedRetry };
}

/**
 * The default ledger: one per process (and per clock, if a policy sets `now`). All policies share it, so a policy made
 * per request sees earlier tokens. It has no limit per principal: otherwise a caller could fill its own share, make the
 * ledger forget a used approval, and use it again.
 */
function ownLedger(now: RequestStateOptions['now']) {
  const ledgers = processWide('own-ledgers.2', () => new WeakMap<() => number, ServedTokens>());
  const clock = now ?? processWide('clock', () => () => Date.now());
  const known = ledgers.get(clock);
  if (known) return known;
  const ledger = servedTokens({ now: clock, limits: { perPrincipal: 1 }, whenFull: 'forget' });
  ledgers.set(clock, ledger);
  return ledger;
}

const OWN_LEDGER =
  'requestStatePolicy has `keys`, for several instances, and no `ledger` that they share: each instance serves a token ' +
  'once, and the others do not see it. A retry that is sent to two of them is served twice, and its effects happen ' +
  'twice. Give all instances one `ledger`, or set `singleUse: false` if every effect of every tool may be repeated.';

/** The principal of an access token: its issuer, its client and its subject. */
export function tokenPrincipal(token: AuthInfo | undefined): string | undefined {
  if (!token) return undefined;
  const { iss, sub } = token.extra ?? {};
  // Without a subject, two users of one client would be one principal. Their tokens differ.
  const subject = typeof sub === 'string' ? { sub } : { token: token.token };
  return JSON.stringify([typeof iss === 'string' ? iss : null, token.clientId, subject]);
}

const aVersion: OptionCheck = {
  allowed: 'a text, or one text for each target',
  isAllowed: (value) => isText(value) || isObject(value),
};

const POLICY_CHECKS = {
  // keyRing() checks each secret.
  keys: anyValue,
  keysSeconds: wholeSeconds(),
  ttlSeconds: wholeNumber(1, MAX_TTL_SECONDS),
  // limitsOf() checks each number.
  limits: anyValue,
  audience: aText,
  principal: aFunction,
  legacy: oneOf('shim', 'degrade'),
  hideUnaskable: aBoolean,
  now: aFunction,
  singleUse: oneOf('reject', 'replay', false),
  ledger: anObjectWith('lease', 'settle', 'release'),
  leaseSeconds: wholeNumber(1, MAX_TTL_SECONDS),
  onerror: aFunction,
  unaskedAnswers: listOf('names of targets', isText),
  // stateVersions() checks each text.
  version: asDefinedIfGiven(aVersion),
  acceptVersions: listOf(
    'versions (null for state without one)',
    // stateVersions() names the place of an undefined one.
    (value) => value === null || value === undefined || isText(value),
  ),
} satisfies Record<string, OptionCheck>;

const GONE_LIMITS = { calls: 'Write `requests`.' };

const GONE_OPTIONS = {
  maxBytes: 'Write `limits: { stateBytes }`.',
  maxRounds: 'Write `limits: { rounds }`.',
  maxCalls: 'Write `limits: { requests }`.',
  maxCallsPerPrincipal: 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/16.',
  maxAbandoned: 'As many as `limits: { requests }` are counted.',
  maxAbandonedPerPrincipal: 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/16.',
  maxQuestions: `A round asks at most ${FIXED_LIMITS.questions} questions.`,
  maxAnswerBytes: `An answer has at most ${FIXED_LIMITS.answerBytes} bytes.`,
  maxResultBytes: `A recorded result has at most ${FIXED_LIMITS.resultBytes} bytes.`,
  ledgerTimeoutSeconds: `A ledger has ${FIXED_LIMITS.ledgerSeconds} s to answer.`,
};
