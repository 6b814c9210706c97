/** Pending interactions on Redis. */
import { StoreFull } from '@mrtr/core';
import {
  type InteractionLimits,
  type InteractionRow,
  type InteractionStore,
  interactionLimits,
  interactionsFullMessage,
} from '@mrtr/pages/store';
import { INTERACTIONS } from './limits.ts';
import {
  CLOCK,
  entryOf,
  INDEX,
  type RedisClient,
  type RedisStoreOptions,
  type RunScript,
  scriptRunner,
} from './redis-keys.ts';

// KEYS: the entry, and the indices of all, of the principal's open pages, and of its finished ones.
// ARGV: id, value, time to live in ms, the three limits.
// A full Redis rejects a script only at its first write, and only if that needs memory. So write the value first.
const ADD = `if redis.call('EXISTS', KEYS[1]) == 1 then return 'there' end
${CLOCK}${INDEX}
local ends = string.format('%d', now + tonumber(ARGV[3]))
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ends)
for index = 2, 4 do
  if is_full(KEYS[index], ARGV[2 + index]) then
    redis.call('DEL', KEYS[1])
    return index == 2 and 'all' or 'own'
  end
end
for index = 2, 3 do enter(KEYS[index], ARGV[1], ends) end
return 'added'
`;

const FIND = `return redis.call('GET', KEYS[1])`;

// KEYS: as above. ARGV: the value before, the value after, id, time to live in ms, and the principal's index to add it to.
// A full Redis also records the end of a page.
const REPLACE = `#!lua flags=allow-oom
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
${CLOCK}${INDEX}
local ends = string.format('%d', now + tonumber(ARGV[4]))
local own = tonumber(ARGV[5])
if own == 4 then redis.call('ZREM', KEYS[3], ARGV[3]) end
for _, index in ipairs({ 2, own }) do enter(KEYS[index], ARGV[3], ends) end
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
  readonly #run: RunScript;
  readonly #limits: ReturnType<typeof interactionLimits>;

  /** @throws InvalidOption for a `client` without `eval`, and for a wrong option. */
  constructor(client: RedisClient, options: RedisStoreOptions<InteractionLimits> = {}) {
    this.#run = scriptRunner('RedisInteractions', client, options, 'mrtr:interactions:');
    this.#limits = interactionLimits('RedisInteractions', options.limits, INTERACTIONS);
  }

  /** See {@link InteractionStore.add}. */
  async add(interaction: InteractionRow): Promise<boolean> {
    const { id, value, ttlSeconds } = interaction;
    const { entries, ownOpen, ownOver } = this.#limits;
    const args = [id, value, ttlSeconds * 1000, entries, ownOpen, ownOver];
    const reply = await this.#run(ADD, keysOf(interaction), args);
    if (reply === 'all' || reply === 'own') throw new StoreFull(interactionsFullMessage(reply));
    return reply === 'added';
  }

  /** See {@link InteractionStore.find}. */
  async find(id: string): Promise<string | undefined> {
    return ((await this.#run(FIND, [entryOf(id)], [])) as string | null) ?? undefined;
  }

  /** See {@link InteractionStore.replace}. */
  async replace(interaction: InteractionRow, before: string, isOver: boolean): Promise<boolean> {
    const { id, value, ttlSeconds } = interaction;
    const args = [before, value, id, ttlSeconds * 1000, isOver ? 4 : 3];
    return (await this.#run(REPLACE, keysOf(interaction), args)) === 1;
  }
}

const keysOf = ({ id, pseudonym }: InteractionRow) => [
  entryOf(id),
  'index',
  `index:${pseudonym}`,
  `index-over:${pseudonym}`,
];
