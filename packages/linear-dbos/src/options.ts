/** How a store is configured. */
import { InvalidPolicy, type RequestStatePolicy } from '@mrtr/core';
import { requireWholeNumbers } from '@mrtr/core/shape';

/** What `DbosStore.open` takes. */
export interface DbosStoreOptions {
  /**
   * The connection string of a PostgreSQL. Not through a pooler in transaction mode: instances hold locks,
   * and listen. The role must be allowed to create the schema.
   */
  readonly postgres: string;
  /** The servers' policy. Its key ring seals the records; nothing else of it is used. */
  readonly policy: Pick<RequestStatePolicy, 'ring'>;
  /**
   * Names the code of the handlers. A call runs only on instances of the version that it began on: change it with
   * every deploy that changes which steps a handler takes or what it asks.
   */
  readonly version: string;
  /** The schema that holds all tables, those of DBOS included. Default `mrtr_linear`. */
  readonly schema?: string;
  /** How long a user may take to answer one round, in seconds. Default 600. */
  readonly ttlSeconds?: number;
  /** Calls that this instance may hold, running or waiting. Default 10 000; one costs some 20 KB of memory. */
  readonly maxCalls?: number;
  /** Open calls of one principal, on all instances. Default 100. Anonymous calls count towards `maxCalls` only. */
  readonly maxCallsPerPrincipal?: number;
  /** Memory that the arguments of this instance's calls may hold, in bytes, estimated. Default 64 MiB. */
  readonly maxBytes?: number;
  /** What the sealed arguments of one principal's open calls may take in the database, in bytes. Default 8 MiB. */
  readonly maxBytesPerPrincipal?: number;
  /** Connections to the database, at least 5: one shows that this process is alive, one listens. Default 10. */
  readonly poolSize?: number;
  /** How often this instance deletes what is over, in seconds. Default 15. */
  readonly sweepSeconds?: number;
  /** Gets what goes wrong and has no client to be told. Default: nothing does. */
  readonly onerror?: (error: Error) => void;
}

/** The options, checked and complete. */
export type Settings = Required<DbosStoreOptions>;

/** @throws InvalidPolicy naming the option that cannot be honoured. */
export function settled(options: DbosStoreOptions): Settings {
  const settings: Settings = {
    schema: 'mrtr_linear',
    ttlSeconds: 600,
    maxCalls: 10_000,
    maxCallsPerPrincipal: 100,
    maxBytes: 67_108_864,
    maxBytesPerPrincipal: 8_388_608,
    poolSize: 10,
    sweepSeconds: 15,
    onerror: () => {},
    ...options,
  };
  const {
    maxBytes,
    maxBytesPerPrincipal,
    maxCalls,
    maxCallsPerPrincipal,
    policy,
    poolSize,
    postgres,
    schema,
    sweepSeconds,
    ttlSeconds,
    version,
  } = settings;
  requireWholeNumbers('DbosStore', { ttlSeconds, maxCalls, maxCallsPerPrincipal, sweepSeconds });
  requireWholeNumbers('DbosStore', { maxBytes, maxBytesPerPrincipal });
  requireWholeNumbers('DbosStore', { poolSize }, 5);
  // It becomes part of the statements.
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new InvalidPolicy(`DbosStore: schema must be a plain identifier; it is '${schema}'.`);
  // Parsed here first: the error of whoever parses it next would show the password.
  if (!/^postgres(?:ql)?:/.test(postgres) || !URL.canParse(postgres))
    throw new InvalidPolicy(
      'DbosStore: postgres must be a connection string, postgres://user@host/database.',
    );
  if (typeof version !== 'string' || version === '')
    throw new InvalidPolicy(
      'DbosStore: version must be text that names the code of the handlers, and differs where they do: a commit, say.',
    );
  if (policy.ring[0]?.ephemeral) {
    throw new InvalidPolicy(
      'DbosStore: the policy has a random key of this process, and no other one could open what is stored. Give ' +
        'requestStatePolicy the same `keys` on every instance.',
    );
  }
  return settings;
}
