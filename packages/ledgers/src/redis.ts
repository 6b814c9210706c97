/** `@mrtr/ledgers/redis`: single-use request state for any number of instances, on Redis 7 or later. */
import { type Claim, type Presented, type StateLedger, StoreFull } from '@mrtr/core';
import { CLOCK_SKEW_MS, ledgerFull } from '@mrtr/core/seal';
import { requireWholeNumbers } from '@mrtr/core/shape';
import type { RedisClient } from './redis-client.ts';

export type { RedisClient } from './redis-client.ts';
export { RedisInteractions, type RedisInteractionsOptions } from './redis-interactions.ts';

/** The options of a {@link RedisLedger}. */
export interface RedisLedgerOptions {
  /** The beginning of every key. Default `mrtr:ledger:`. Servers that share keys and audience must share it. */
  readonly prefix?: string;
  /** Tokens remembered at once. Default 1 000 000. */
  readonly maxEntries?: number;
  /** The same, of one principal. Default 1000. Anonymous callers share `maxEntries`. */
  readonly maxEntriesPerPrincipal?: number;
  /** Bytes of all recorded results. Default 256 MiB. A result without room is not kept: its token counts as lost. */
  readonly maxBytes?: number;
  /** The same, of one principal. Default 4 MiB. Anonymous callers share `maxBytes`. */
  readonly maxBytesPerPrincipal?: number;
}

// Redis runs no other command during the script, which decides by Redis's clock. KEYS: the entry, the index of all
// entries, and the index of the principal's. ARGV: id, answers, expiry, lease in ms, the server's clock, skew, the two
// limits (0: no limit), and the principal ('': anonymous).
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
redis.call('HSET', KEYS[1], 'lease', string.format('%d', now + tonumber(ARGV[4])), 'answers', ARGV[2], 'principal', ARGV[9])
redis.call('PEXPIREAT', KEYS[1], forget)
return { 'first' }
`;

// Redis deletes an expired key by itself. A late result must not create the key again: it would stay for ever. KEYS:
// the entry, and the sizes of all results. ARGV: the result, and the limits of all and of one principal, in bytes.
// Sizes are summed by their time of expiry, in at most 17 steps for one time to live, so that expired ones can be
// subtracted.
const SETTLE = `local entry = redis.call('HMGET', KEYS[1], 'lease', 'result', 'principal')
if not entry[1] or entry[2] then return end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local forget = redis.call('PEXPIRETIME', KEYS[1])
local step = 60000
while step * 16 < forget - now do step = step * 2 end
local field = string.format('%d', math.ceil(forget / step) * step)
local sizes = { KEYS[2] }
if entry[3] ~= '' then sizes[2] = KEYS[2] .. ':' .. entry[3] end
for index, key in ipairs(sizes) do
  local held = #ARGV[1]
  local known = redis.call('HGETALL', key)
  for at = 1, #known, 2 do
    if tonumber(known[at]) < now then redis.call('HDEL', key, known[at]) else held = held + known[at + 1] end
  end
  if held > tonumber(ARGV[1 + index]) then
    redis.call('HSET', KEYS[1], 'lease', '0')
    return
  end
end
for _, key in ipairs(sizes) do
  redis.call('HINCRBY', key, field, #ARGV[1])
  if redis.call('PEXPIRETIME', key) < tonumber(field) then redis.call('PEXPIREAT', key, field) end
end
redis.call('HSET', KEYS[1], 'result', ARGV[1])
`;

/**
 * A ledger on Redis: one key for each presented token, which Redis deletes when the token expires. Use a Redis that
 * persists (AOF) and evicts nothing (`noeviction`): a token that Redis forgets early can be used again. Do not use a
 * cluster: the scripts touch several keys.
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
  readonly #bytes: readonly [all: string, own: string];

  /** @throws InvalidPolicy for a limit that is not a whole number of at least 1. */
  constructor(client: RedisClient, options: RedisLedgerOptions = {}) {
    const { prefix = 'mrtr:ledger:', maxEntries = 1_000_000, maxEntriesPerPrincipal = 1000 } = options;
    const { maxBytes = 268_435_456, maxBytesPerPrincipal = 4_194_304 } = options;
    requireWholeNumbers('RedisLedger', {
      maxEntries,
      maxEntriesPerPrincipal,
      maxBytes,
      maxBytesPerPrincipal,
    });
    this.#client = client;
    this.#prefix = prefix;
    this.#limits = [maxEntries, maxEntriesPerPrincipal];
    this.#bytes = [String(maxBytes), String(maxBytesPerPrincipal)];
  }

  /**
   * See {@link StateLedger.claim}.
   *
   * @throws StoreFull when there is no room; otherwise the client's error. Then the request is refused, and does not
   * run.
   */
  async claim({ id, answers, expiresAt, leaseSeconds, principal, now }: Presented): Promise<Claim> {
    const [all, own] = this.#limits;
    const limits = [all, principal === undefined ? 0 : own];
    const index = principal === undefined ? 'index' : `index:${principal}`;
    const numbers = [expiresAt, leaseSeconds * 1000, now, CLOCK_SKEW_MS, ...limits].map(String);
    const reply = await this.#client.eval(CLAIM, {
      keys: [`${this.#prefix}entry:${id}`, `${this.#prefix}index`, this.#prefix + index],
      arguments: [id, answers, ...numbers, principal ?? ''],
    });
    return claimOf(reply as [Claim['kind'] | 'all' | 'own', string?, string?]);
  }

  /** See {@link StateLedger.settle}. */
  async settle(id: string, result: string): Promise<void> {
    await this.#client.eval(SETTLE, {
      keys: [`${this.#prefix}entry:${id}`, `${this.#prefix}bytes`],
      arguments: [result, ...this.#bytes],
    });
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
