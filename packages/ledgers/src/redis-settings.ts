import { warnOnce } from '@mrtr/core/internal';
import type { RedisClient } from './redis-keys.ts';

/**
 * Warns about settings that can lose entries, once per process. Returns false if Redis answers before an entry is on disk.
 * Most managed services hide their settings.
 */
export async function checkDurability(client: RedisClient) {
  const settings = await readSettings(client);
  if (!settings) return true;
  const { appendonly, appendfsync, 'maxmemory-policy': policy } = settings;
  if (policy !== undefined && policy !== 'noeviction')
    warnOnce(
      'MRTR_REDIS_EVICTS',
      `Redis deletes keys when its memory is full (maxmemory-policy ${policy}). A ledger that loses an entry serves ` +
        'its token a second time. Set maxmemory-policy to noeviction.',
    );
  if (appendonly === undefined || appendfsync === undefined) return true;
  const isDurable = appendonly === 'yes' && appendfsync === 'always';
  if (!isDurable)
    warnOnce(
      'MRTR_REDIS_NOT_DURABLE',
      `Redis answers before an entry is on disk (appendonly ${appendonly}, appendfsync ${appendfsync}), so a crash can ` +
        'lose entries. After each restart of Redis, the ledger rejects all calls that are open, and those that begin in ' +
        'the first minute. Set appendonly to yes and appendfsync to always, and give the ledger `durable: true`.',
    );
  return isDurable;
}

const NAMES = ['appendonly', 'appendfsync', 'maxmemory-policy'];

async function readSettings(client: RedisClient): Promise<Partial<Record<string, string>> | undefined> {
  try {
    const reply = await client.configGet?.(NAMES);
    if (reply === null || typeof reply !== 'object') return undefined;
    // A client may be configured to return a Map.
    return reply instanceof Map ? Object.fromEntries(reply) : reply;
  } catch {
    return undefined;
  }
}
