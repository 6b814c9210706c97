/** `@mrtr/ledger-redis`: single-use request state for any number of instances, on Redis 5 or later. */
import type { Claim, StateLedger } from '@mrtr/core';

/** What is used of a client of the `redis` package. */
export interface RedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** What a {@link RedisLedger} takes. */
export interface RedisLedgerOptions {
  /** Put before every key. Default `mrtr:ledger:`. Servers that share keys and audience must share it. */
  readonly prefix?: string;
}

// Each script runs alone in Redis, and by Redis' own clock: instances with clocks of their own agree on a lease.
const NOW = `local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
`;

const CLAIM = `${NOW}
local entry = redis.call('HMGET', KEYS[1], 'lease', 'result')
if entry[2] then return { 'settled', entry[2] } end
if entry[1] then
  if now < tonumber(entry[1]) then return { 'in-flight' } end
  return { 'lost' }
end
redis.call('HSET', KEYS[1], 'lease', now + tonumber(ARGV[2]))
redis.call('EXPIREAT', KEYS[1], ARGV[1])
return { 'first' }
`;

// Redis forgets the key by itself; a result for one that it has forgotten must not bring it back for ever.
const SETTLE = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'result', ARGV[1]) end
return 1
`;

/**
 * A ledger on Redis. Keys expire by themselves, one per presented token. Give it a client that persists (AOF): a
 * Redis that forgets lets tokens be used twice.
 *
 * @example const ledger = new RedisLedger(await createClient({ url }).connect());
 */
export class RedisLedger implements StateLedger {
  readonly #client: RedisClient;
  readonly #prefix: string;

  constructor(client: RedisClient, { prefix = 'mrtr:ledger:' }: RedisLedgerOptions = {}) {
    this.#client = client;
    this.#prefix = prefix;
  }

  async claim(id: string, expiresAt: number, leaseSeconds: number): Promise<Claim> {
    const reply = await this.#client.eval(CLAIM, {
      keys: [this.#prefix + id],
      arguments: [String(Math.ceil(expiresAt)), String(leaseSeconds)],
    });
    const [kind, result = ''] = reply as [Claim['kind'], string?];
    return kind === 'settled' ? { kind, result } : { kind };
  }

  async settle(id: string, result: string): Promise<void> {
    await this.#client.eval(SETTLE, { keys: [this.#prefix + id], arguments: [result] });
  }
}
