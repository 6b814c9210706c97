/** How a store is configured. */
import { InvalidOption, type RequestStatePolicy } from '@mrtr/core';
import {
  aFunction,
  anyValue,
  aPlainIdentifier,
  aPolicy,
  asRequired,
  aText,
  limitsOf,
  listenerOf,
  type OptionCheck,
  type OptionChecks,
  requireOptions,
  tellOperator,
  wholeNumber,
  wholeSeconds,
  withDefaults,
} from '@mrtr/core/internal';
import { keyRingOf } from '@mrtr/core/seal';

/** The limits of a store. Anonymous callers share `calls` and `bytes` of their instance. */
interface DbosStoreLimits {
  /** Calls that may run or wait in this instance. Default 10 000; each costs about 20 KB of memory. */
  readonly calls?: number;
  /** Estimated memory of the arguments of this instance's calls, in bytes. Default 64 MiB. */
  readonly bytes?: number;
  /**
   * The share of each that the open calls of one principal may take on all instances together, above 0 and at most 1. Its
   * bytes are the size of the sealed arguments in the database. Default 1/32: 312 calls and 2 MiB.
   */
  readonly perPrincipal?: number;
}

/** The options of `DbosStore.open`. */
export interface DbosStoreOptions {
  /**
   * The connection string of a PostgreSQL. Do not connect through a pooler in transaction mode: instances hold locks
   * and listen for notifications. The role must be allowed to create the schema.
   */
  readonly postgres: string;
  /** The servers' policy. Its keys seal the store's records, and its `onerror` is the default. The store uses no more of it. */
  readonly policy: RequestStatePolicy;
  /**
   * The version of the handlers' code. A call stays on instances of the version that it began on. Change it with every
   * deploy that changes the steps or the questions of a handler.
   */
  readonly version: string;
  /** The schema of all tables, including those of DBOS. Default `mrtr_linear`. */
  readonly schema?: string;
  /** How long a user may take to answer one round, in seconds. Default 600. */
  readonly ttlSeconds?: number;
  /** Limits of what the store holds. Over them, a call is rejected before it runs. */
  readonly limits?: DbosStoreLimits;
  /** Connections to the database, at least 5. One shows that this process is alive; one listens. Default 10. */
  readonly poolSize?: number;
  /** Receives failures that no client sees. Default: the policy's `onerror`, or a process warning for the first of each kind. */
  readonly onerror?: (error: Error) => void;
}

/** The options, checked and complete, and the times that are fixed. */
export type Settings = Required<Omit<DbosStoreOptions, 'onerror'>> &
  Times & { readonly limits: Required<DbosStoreLimits>; readonly onerror: (error: unknown) => void };

/** Times that are fixed: all instances of a deployment have the same. Only tests change them. */
export interface Times {
  /**
   * How long a running call stays with an instance that lost its database session, in seconds. In that time the instance
   * reconnects or abandons the call; then another takes it over. A call that waits for its user is taken over at once.
   */
  readonly takeOverSeconds: number;
  /** How often this instance deletes expired calls, in seconds. */
  readonly sweepSeconds: number;
}

export const DEFAULTS = { schema: 'mrtr_linear', ttlSeconds: 600, poolSize: 10 };
export const TIMES: Times = { takeOverSeconds: 10, sweepSeconds: 15 };
export const LIMITS = { calls: 10_000, bytes: 67_108_864, perPrincipal: 1 / 32 };

const GONE = {
  maxOpenCalls: 'Write `limits: { calls }`.',
  maxOpenCallsPerPrincipal: 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/32.',
  maxBytes: 'Write `limits: { bytes }`.',
  maxBytesPerPrincipal: 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/32.',
  takeOverSeconds: 'It is fixed: 10 seconds.',
  sweepSeconds: 'It is fixed: 15 seconds.',
};

const aConnectionString: OptionCheck = {
  allowed: 'a connection string, postgres://user@host/database',
  // Parse it before the library does: its error would show the password.
  isAllowed: (value) => typeof value === 'string' && /^postgres(?:ql)?:/.test(value) && URL.canParse(value),
};

const CHECKS: OptionChecks<DbosStoreOptions> = {
  postgres: asRequired(aConnectionString),
  policy: asRequired(aPolicy),
  version: asRequired({
    ...aText,
    allowed: 'a text that names the version of your handlers, for example a commit',
  }),
  schema: aPlainIdentifier,
  ttlSeconds: wholeSeconds(),
  limits: anyValue,
  poolSize: wholeNumber(5),
  onerror: aFunction,
};

/** @throws InvalidOption naming the option that cannot be honoured. */
export function resolveOptions(options: DbosStoreOptions): Settings {
  requireOptions('DbosStore', options, CHECKS, GONE);
  if (keyRingOf(options.policy)[0]?.ephemeral)
    throw new InvalidOption(
      'DbosStore: the policy has a random key of this process, so no other process could open the stored calls. Give ' +
        'requestStatePolicy the same `keys` on every instance.',
    );
  const onerror = options.onerror ?? listenerOf(options.policy);
  return {
    ...withDefaults(options, DEFAULTS),
    ...TIMES,
    limits: limitsOf('DbosStore', options.limits, LIMITS),
    onerror: (error) => tellOperator(error, onerror),
  };
}
