/** Pending interactions on Redis. */
import { StoreFull } from '@mrtr/core';
import { anObjectWith, aText, requireArgument, requireOptions, withDefaults } from '@mrtr/core/internal';
import {
  type InteractionStore,
  interactionsFullMessage,
  type NewInteraction,
  type NewTime,
  requireInteractionFits,
} from '@mrtr/pages/store';
import { INTERACTION_CHECKS, INTERACTION_DEFAULTS, type InteractionCapacity } from './limits.ts';
import type { RedisClient } from './redis-client.ts';

/** Adds the id to an index until the interaction expires. The index lives as long as its last entry. */
const enter = (
  index: number | 'own',
  id = 1,
): string => `redis.call('ZADD', KEYS[${index}], ends, ARGV[${id}])
if redis.call('PEXPIRETIME', KEYS[${index}]) < tonumber(ends) then redis.call('PEXPIREAT', KEYS[${index}], ends) end`;

/** The options of a {@link RedisInteractions}. */
export interface RedisInteractionsOptions extends InteractionCapacity {
  /** The beginning of every key. Default `mrtr:interactions:`. Instances must share it. */
  readonly prefix?: string;
}

// KEYS: the entry, and the indices of all, of the principal's open pages, and of its finished ones.
// ARGV: id, value, time to live in ms, the three limits.
// A full Redis rejects a script only at its first write, and only if that needs memory. So write the value first.
const ADD = `if redis.call('EXISTS', KEYS[1]) == 1 then return 'there' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = string.format('%d', now + tonumber(ARGV[3]))
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ends)
for index = 2, 4 do
  redis.call('ZREMRANGEBYSCORE', KEYS[index], '-inf', now)
  if redis.call('ZCARD', KEYS[index]) >= tonumber(ARGV[2 + index]) then
    redis.call('DEL', KEYS[1])
    return index == 2 and 'all' or 'own'
  end
end
${enter(2)}
${enter(3)}
return 'added'
`;

const FIND = `return redis.call('GET', KEYS[1])`;

// KEYS: as above. ARGV: the value before, the value after; with a new expiry: id, time to live in ms, and the principal's
// index to add it to.
// A full Redis also records the end of a page.
const REPLACE = `#!lua flags=allow-oom
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if not ARGV[4] then
  redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
  return 1
end
local time = redis.call('TIME')
local ends = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[4]))
local own = tonumber(ARGV[5])
if own == 4 then redis.call('ZREM', KEYS[3], ARGV[3]) end
${enter(2, 3)}
${enter('own', 3)}
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ends)
return 1
`;

/**
 * Pending interactions on Redis 7 or later: one key each, which Redis deletes when it expires. Do not use a cluster: a
 * script touches several keys.
 *
 * @example
 * const client = await createClient({ url: process.env.REDIS_URL }).connect();
 * const store = new RedisInteractions(client);
 * const link = pendingInteractions({ policy, store, url, identifyBrowser, start, finish });
 */
export class RedisInteractions implements InteractionStore {
  readonly #client: RedisClient;
  readonly #options: Required<RedisInteractionsOptions>;

  /** @throws InvalidOption for a `client` without `eval`, and for a wrong option. */
  constructor(client: RedisClient, options: RedisInteractionsOptions = {}) {
    requireArgument('RedisInteractions', 'client', client, anObjectWith('eval'));
    requireOptions<RedisInteractionsOptions>('RedisInteractions', options, {
      prefix: aText,
      ...INTERACTION_CHECKS,
    });
    this.#client = client;
    this.#options = withDefaults(options, { prefix: 'mrtr:interactions:', ...INTERACTION_DEFAULTS });
  }

  /** See {@link InteractionStore.add}. */
  async add({ id, pseudonym, value, ttlSeconds }: NewInteraction): Promise<boolean> {
    requireInteractionFits(value, this.#options.maxValueBytes);
    const { maxEntries, maxEntriesPerPrincipal, maxOverPerPrincipal } = this.#options;
    const numbers = [ttlSeconds * 1000, maxEntries, maxEntriesPerPrincipal, maxOverPerPrincipal];
    const reply = await this.#client.eval(ADD, {
      keys: this.#keys(id, pseudonym),
      arguments: [id, value, ...numbers.map(String)],
    });
    if (reply === 'all' || reply === 'own') throw new StoreFull(interactionsFullMessage(reply));
    return reply === 'added';
  }

  /** See {@link InteractionStore.find}. */
  async find(id: string): Promise<string | undefined> {
    const value = await this.#client.eval(FIND, { keys: [this.#entry(id)], arguments: [] });
    return (value as string | null) ?? undefined;
  }

  /** See {@link InteractionStore.replace}. */
  async replace(id: string, before: string, after: string, time?: NewTime): Promise<boolean> {
    requireInteractionFits(after, this.#options.maxValueBytes);
    const keys = time ? this.#keys(id, time.pseudonym) : [this.#entry(id)];
    const anew = time ? [id, String(time.ttlSeconds * 1000), time.isOver ? '4' : '3'] : [];
    return (await this.#client.eval(REPLACE, { keys, arguments: [before, after, ...anew] })) === 1;
  }

  #keys(id: string, pseudonym: string): string[] {
    const indices = ['index', `index:${pseudonym}`, `index-over:${pseudonym}`].map(
      (name) => this.#options.prefix + name,
    );
    return [this.#entry(id), ...indices];
  }

  #entry(id: string): string {
    return `${this.#options.prefix}entry:${id}`;
  }
}
