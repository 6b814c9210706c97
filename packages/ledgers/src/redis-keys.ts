/** The keys of a store on Redis: its connection, and the parts that its scripts share. */
import {
  anObjectWith,
  anyValue,
  aText,
  type OptionCheck,
  requireArgument,
  requireOptions,
} from '@mrtr/core/internal';
import { GONE } from './limits.ts';

/** The part of a client of the `redis` package that the stores on Redis use. */
export interface RedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Reads the server's settings. If present, a ledger warns about settings that lose entries. */
  configGet?(parameters: string[]): Promise<unknown>;
}

/** The options of a store on Redis. */
export interface RedisStoreOptions<Limits> {
  /**
   * The beginning of every key. Default `mrtr:ledger:`, or `mrtr:interactions:`. Servers that share keys and audience
   * must share it.
   */
  readonly prefix?: string;
  /** Limits of what the store holds, of all callers and of one principal. */
  readonly limits?: Limits | undefined;
}

/**
 * @internal Makes the function that runs scripts on the keys of one store. Redis runs no other command during a script.
 *
 * @throws InvalidOption for a `client` without `eval`, and for a wrong option.
 */
export function scriptRunner(
  owner: string,
  client: RedisClient,
  options: RedisStoreOptions<unknown>,
  defaultPrefix: string,
  checks: Readonly<Record<string, OptionCheck>> = {},
) {
  requireArgument(owner, 'client', client, anObjectWith('eval'));
  requireOptions(owner, options, { prefix: aText, ...checks, limits: anyValue }, GONE);
  const { prefix = defaultPrefix } = options;
  return (script: string, keys: readonly string[], args: readonly (string | number)[]) =>
    client.eval(script, { keys: keys.map((key) => prefix + key), arguments: args.map(String) });
}

/** @internal */
export type RunScript = ReturnType<typeof scriptRunner>;

/** @internal The key of an entry. */
export const entryOf = (id: string) => `entry:${id}`;

/** @internal Sets `now`: scripts decide by Redis's clock. */
export const CLOCK = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** @internal Keeps a key until a time, or for longer if it is kept longer. A key without expiry is new: it gets this one. */
export const KEEP = `local function keep(key, ends)
  if redis.call('PEXPIRETIME', key) < tonumber(ends) then redis.call('PEXPIREAT', key, ends) end
end
`;

/**
 * @internal An index: ids, sorted by the time until which they count. `is_full` forgets those whose time is over. The index lives as
 * long as its last id. Needs CLOCK.
 */
export const INDEX = `${KEEP}local function is_full(index, limit)
  redis.call('ZREMRANGEBYSCORE', index, '-inf', now)
  return redis.call('ZCARD', index) >= tonumber(limit)
end
local function enter(index, id, ends)
  redis.call('ZADD', index, ends, id)
  keep(index, ends)
end
`;
