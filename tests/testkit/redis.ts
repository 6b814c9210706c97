/** A Redis for a test file. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisClientOptions } from 'redis';
import { test } from 'vitest';

export interface Redis {
  /** The options of a client of the `redis` package. */
  readonly options: RedisClientOptions;
  stop(): Promise<void>;
}

// The server ends with its stdin, and so with this process, even if that is killed. Then its folder is deleted.
const UNTIL_STDIN_ENDS = `redis-server --port 0 --unixsocket "$0/socket" --dir "$0" --save '' --appendonly no &
cat >/dev/null; kill $!; wait; rm -rf "$0"`;

/**
 * The Redis that `MRTR_TEST_REDIS` names, or one that is started if `redis-server` is installed. Undefined without
 * either: a skipped test says so, and in CI this throws.
 */
export async function redisOfThisFile(): Promise<Redis | undefined> {
  const url = process.env.MRTR_TEST_REDIS;
  if (url !== undefined) return { options: { url }, stop: async () => {} };
  if (spawnSync('redis-server', ['--version']).status === 0) return started();
  const missing = 'redis-server is not installed here, and MRTR_TEST_REDIS names no server';
  if (process.env.CI) throw new Error(missing);
  test.skip(`these tests need Redis (SKIPPED: ${missing})`, () => {});
  return undefined;
}

async function started(): Promise<Redis> {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-redis-'));
  const child = spawn('sh', ['-c', UNTIL_STDIN_ENDS, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (/ready to accept connections/i.test(said)) resolve();
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`redis-server ended as it started, and said: ${said}`)));
  });
  return {
    options: { socket: { path: join(folder, 'socket'), tls: false } },
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
