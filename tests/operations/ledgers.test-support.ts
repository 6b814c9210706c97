/** Ledgers and their clients, which are closed when the test ends. */
import { randomBytes } from 'node:crypto';
import { processWide } from '@mrtr/core/internal';
import { type RedisClient, RedisLedger, type RedisLedgerOptions } from '@mrtr/ledgers/redis';
import { createClient } from 'redis';
import { onTestFinished, vi } from 'vitest';
import type { Redis } from '../testkit/redis.ts';

export const random = () => randomBytes(6).toString('hex');

/** A driver may report a cut connection to the first caller after the cut. The second caller gets a new connection. */
export const retried = <T>(attempt: () => Promise<T>): Promise<T> => attempt().catch(attempt);

export async function connectedTo({ options }: Redis) {
  const client = createClient(options).on('error', () => {});
  await client.connect();
  // The client may be reconnecting to a server that has stopped.
  onTestFinished(() => client.destroy());
  return client;
}

export async function begun(client: RedisClient, options: RedisLedgerOptions): Promise<RedisLedger> {
  const ledger = new RedisLedger(client, options);
  await ledger.begin();
  return ledger;
}

/** Records the warnings of this test, by their code. */
export function heardWarnings(): (code: string) => unknown[] {
  processWide('warned', () => new Set<string>()).clear();
  const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emit.mockRestore());
  return (code) =>
    emit.mock.calls
      .filter(([, options]) => (options as { code?: string }).code === code)
      .map(([text]) => text);
}
