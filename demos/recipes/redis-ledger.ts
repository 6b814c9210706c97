/** Several instances, and each retry served once: the ledger is in Redis 7 or later. */
import { type McpServer, protectedServer, requestStatePolicy } from '@mrtr/core';
import { RedisLedger } from '@mrtr/ledgers/redis';
import { createClient } from 'redis';
import { registerDeploy } from './deploy.ts';

/** Call it once in a process. */
export async function open(redisOptions: Parameters<typeof createClient>[0], keys: readonly string[]) {
  const redis = createClient(redisOptions);
  // It reconnects by itself; a lease asked for meanwhile is rejected after 5 seconds.
  redis.on('error', (error) => console.error(error));
  await redis.connect();
  // `durable: true` needs the Redis settings of docs/recipes/ledgers.md.
  const ledger = new RedisLedger(redis, { durable: true });
  await ledger.begin();
  const policy = requestStatePolicy({ keys, ledger });
  const createServer = (): McpServer =>
    registerDeploy(protectedServer({ name: 'deployer', version: '1.0.0' }, policy));
  return { createServer, close: () => redis.close() };
}
