/** How a store is configured. */
import { InvalidOption, type RequestStatePolicy } from '@mrtr/core';
import {
  aFunction,
  aPolicy,
  asRequired,
  aText,
  listenerOf,
  type OptionCheck,
  type OptionChecks,
  requireOptions,
  tellOperator,
  wholeNumber,
  wholeNumbers,
  wholeSeconds,
  withDefaults,
} from '@mrtr/core/internal';
import { keyRingOf } from '@mrtr/core/seal';

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
  /** Calls that may run or wait in this instance. Default 10 000; each costs about 20 KB of memory. */
  readonly maxOpenCalls?: number;
  /** Open calls of one principal on all instances. Default 100. Anonymous calls count only towards `maxOpenCalls`. */
  readonly maxOpenCallsPerPrincipal?: number;
  /** Estimated memory of the arguments of this instance's calls, in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Size in the database of the sealed arguments of one principal's open calls, in bytes. Default 8 MiB. */
  readonly maxBytesPerPrincipal?: number;
  /** Connections to the database, at least 5. One shows that this process is alive; one listens. Default 10. */
  readonly poolSize?: number;
  /**
   * How long a running call stays with an instance that lost its database session, in seconds, at least 1. Default 10.
   * In that time the instance reconnects or abandons the call; then another takes it over. A call that waits for its user
   * is taken over at once. Set the same value on all instances.
   */
  readonly takeOverSeconds?: number;
  /** How often this instance deletes expired calls, in seconds. Default 15. */
  readonly sweepSeconds?: number;
  /** Receives failures that no client sees. Default: the policy's `onerror`, or a process warning for the first of each kind. */
  readonly onerror?: (error: Error) => void;
}

/** The options, checked and complete. */
export type Settings = Required<DbosStoreOptions>;

const NUMBERS = {
  ttlSeconds: 600,
  maxOpenCalls: 10_000,
  maxOpenCallsPerPrincipal: 100,
  maxBytes: 67_108_864,
  maxBytesPerPrincipal: 8_388_608,
  poolSize: 10,
  takeOverSeconds: 10,
  sweepSeconds: 15,
};

const aConnectionString: OptionCheck = {
  allowed: 'a connection string, postgres://user@host/database',
  // Parse it before the library does: its error would show the password.
  isAllowed: (value) => typeof value === 'string' && /^postgres(?:ql)?:/.test(value) && URL.canParse(value),
};

const aSchemaName: OptionCheck = {
  allowed: 'a plain identifier',
  // It is inserted into SQL statements.
  isAllowed: (value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(value),
  quotesText: true,
};

const CHECKS: OptionChecks<DbosStoreOptions> = {
  postgres: asRequired(aConnectionString),
  policy: asRequired(aPolicy),
  version: asRequired({
    ...aText,
    allowed: 'a text that names the version of your handlers, for example a commit',
  }),
  schema: aSchemaName,
  ...wholeNumbers(NUMBERS),
  ttlSeconds: wholeSeconds(),
  poolSize: wholeNumber(5),
  takeOverSeconds: wholeSeconds(),
  sweepSeconds: wholeSeconds(),
  onerror: aFunction,
};

/** @throws InvalidOption naming the option that cannot be honoured. */
export function resolveOptions(options: DbosStoreOptions): Settings {
  requireOptions('DbosStore', options, CHECKS);
  if (keyRingOf(options.policy)[0]?.ephemeral) {
    throw new InvalidOption(
      'DbosStore: the policy has a random key of this process, so no other process could open the stored calls. Give ' +
        'requestStatePolicy the same `keys` on every instance.',
    );
  }
  const onerror = options.onerror ?? listenerOf(options.policy);
  return {
    ...withDefaults(options, { schema: 'mrtr_linear', ...NUMBERS }),
    onerror: (error) => tellOperator(error, onerror),
  };
}
