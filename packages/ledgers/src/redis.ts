/** `@mrtr/ledgers/redis`: single-use request state for any number of instances, on Redis 7 or later. */
import { type Claim, type Presented, type StateLedger, StoreFull } from '@mrtr/core';
import { CLOCK_SKEW_MS, ledgerFull } from '@mrtr/core/seal';
import { requireWholeNumbers } from '@mrtr/core/shape';

/** The part of a client of the `redis` package that a {@link RedisLedger} uses. */
export interface RedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** The options of a {@link RedisLedger}. */
export interface RedisLedgerOptions {
  /** The beginning of every key. Default `mrtr:ledger:`. Servers that share keys and audience must share it. */
  readonly prefix?: string;
  /** Tokens remembered at once. Default 1 000 000. Their results are bounded by the policy's `maxResultBytes`. */
  readonly maxEntries?: number;
  /** The same, of one principal. Default 1000. Anonymous callers share `maxEntries`. */
  readonly maxEntriesPerPrincipal?: number;
}

// The script runs alone in Redis and decides by its clock. KEYS: the entry, the index of all entries, and the index of
// the principal's. ARGV: id, answers, expiry, lease in ms, the server's clock, skew, and the two limits (0: none).
const CLAIM = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local by = tonumber(ARGV[5]) - now
if math.abs(by) > tonumber(ARGV[6]) then return { 'clock-differs', string.format('%d', by) } end
local entry = redis.call('HMGET', KEYS[1], 'lease', 'result', 'answers')
if entry[2] then return { 'settled', entry[2], entry[3] } end
if entry[1] then
  if now < tonumber(entry[1]) then return { 'in-flight' } end
  return { 'lost' }
end
local expires = tonumber(ARGV[3])
if now >= expires then return { 'expired' } end
local forget = string.format('%d', expires + tonumber(ARGV[6]))
for index = 2, 3 do
  local limit = tonumber(ARGV[5 + index])
  if limit > 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[index], '-inf', now)
    if redis.call('ZCARD', KEYS[index]) >= limit then return { index == 2 and 'all' or 'own' } end
  end
end
for index = 2, 3 do
  if tonumber(ARGV[5 + index]) > 0 then
    redis.call('ZADD', KEYS[index], forget, ARGV[1])
    if redis.call('PEXPIRETIME', KEYS[index]) < tonumber(forget) then redis.call('PEXPIREAT', KEYS[index], forget) end
  end
end
redis.call('HSET', KEYS[1], 'lease', string.format('%d', now + tonumber(ARGV[4])), 'answers', ARGV[2])
redis.call('PEXPIREAT', KEYS[1], forget)
return { 'first' }
`;

// Redis forgets an expired key by itself. A late result must not bring the key back: it would stay for ever.
const SETTLE = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSETNX', KEYS[1], 'result', ARGV[1]) end
return 1
`;

/**
 * A ledger on Redis: one key for each presented token, which Redis deletes when the token expires. Use a Redis that
 * persists (AOF) and evicts nothing (`noeviction`): a token that Redis forgets early can be used again. Not a cluster: a
 * claim touches three keys.
 *
 * @example
 * import { requestStatePolicy } from '@mrtr/core';
 * import { RedisLedger } from '@mrtr/ledgers/redis';
 * import { createClient } from 'redis';
 *
 * const client = await createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1' }).connect();
 * const ledger = new RedisLedger(client);
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY], ledger });
 */
export class RedisLedger implements StateLedger {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #limits: readonly [all: number, own: number];

  /** @throws InvalidPolicy for a limit that is not a whole number of at least 1. */
  constructor(client: RedisClient, options: RedisLedgerOptions = {}) {
    const { prefix = 'mrtr:ledger:', maxEntries = 1_000_000, maxEntriesPerPrincipal = 1000 } = options;
    requireWholeNumbers('RedisLedger', { maxEntries, maxEntriesPerPrincipal });
    this.#client = client;
    this.#prefix = prefix;
    this.#limits = [maxEntries, maxEntriesPerPrincipal];
  }

  /**
   * See {@link StateLedger.claim}.
   *
   * @throws StoreFull when there is no room; else the client's error. The request is refused then, and does not run.
   */
  async claim({ id, answers, expiresAt, leaseSeconds, principal, now }: Presented): Promise<Claim> {
    const [all, own] = this.#limits;
    const limits = [all, principal === undefined ? 0 : own];
    const index = principal === undefined ? 'index' : `index:${principal}`;
    const numbers = [expiresAt, leaseSeconds * 1000, now, CLOCK_SKEW_MS, ...limits].map(String);
    const reply = await this.#client.eval(CLAIM, {
      keys: [`${this.#prefix}entry:${id}`, `${this.#prefix}index`, this.#prefix + index],
      arguments: [id, answers, ...numbers],
    });
    return claimOf(reply as [Claim['kind'] | 'all' | 'own', string?, string?]);
  }

  /** See {@link StateLedger.settle}. */
  async settle(id: string, result: string): Promise<void> {
    await this.#client.eval(SETTLE, { keys: [`${this.#prefix}entry:${id}`], arguments: [result] });
  }
}

function claimOf([kind, text = '', answers = '']: [Claim['kind'] | 'all' | 'own', string?, string?]): Claim {
  switch (kind) {
    case 'all':
    case 'own':
      throw new StoreFull(ledgerFull(kind));
    case 'settled':
      return { kind, result: text, answers };
    case 'clock-differs':
      return { kind, byMs: Number(text) };
    default:
      return { kind };
  }
}
