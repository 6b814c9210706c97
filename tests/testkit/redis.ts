import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisClientOptions } from 'redis';
import { test } from 'vitest';

export interface Redis {
  readonly options: RedisClientOptions;
  stop(): Promise<void>;
}

/** A Redis that a test may crash. */
export interface OwnRedis extends Redis {
  /** Kills the server like a crash, and restarts it on its files. */
  crash(): Promise<void>;
}

// The server ends with its stdin, and so with this process, even after a kill. Then its folder is deleted, unless stdin
// said to keep it. A child of the server may still be writing there, so rm may need a second try.
const UNTIL_STDIN_ENDS = `folder=$0
redis-server --port 0 --unixsocket "$folder/socket" --dir "$folder" "$@" &
read -r word; kill -9 $!; wait
[ "$word" = keep ] || until rm -rf "$folder" 2>/dev/null; do :; done`;

const WITHOUT_FILES = ['--save', '', '--appendonly', 'no'];

/** Whether this machine has a Redis to start. */
export const hasRedisServer = (): boolean => spawnSync('redis-server', ['--version']).status === 0;

/**
 * The Redis of `MRTR_TEST_REDIS`, or a started one if `redis-server` is installed. Without both it is undefined, and
 * throws in CI.
 */
export async function redisOfThisFile(): Promise<Redis | undefined> {
  const url = process.env.MRTR_TEST_REDIS;
  if (url !== undefined) return { options: { url }, stop: async () => {} };
  if (hasRedisServer()) return ownRedis(WITHOUT_FILES);
  const missing = 'redis-server is not installed here, and MRTR_TEST_REDIS names no server';
  if (process.env.CI) throw new Error(missing);
  test.skip(`these tests need Redis (SKIPPED: ${missing})`, () => {});
  return undefined;
}

/** A new Redis on this machine. `settings` are arguments of `redis-server`. */
export async function ownRedis(settings: readonly string[]): Promise<OwnRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-redis-'));
  let end = await start(folder, settings);
  return {
    options: { socket: { path: join(folder, 'socket'), tls: false } },
    crash: async () => {
      await end('keep');
      end = await start(folder, settings);
    },
    stop: () => end('delete'),
  };
}

/** Starts a server. The returned function kills it, and resolves when it is gone. */
async function start(folder: string, settings: readonly string[]) {
  const args = ['-c', UNTIL_STDIN_ENDS, folder, ...settings];
  const child = spawn('sh', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  await new Promise<void>((resolve, reject) => {
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (/ready to accept connections/i.test(printed)) resolve();
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`redis-server ended as it started, and printed: ${printed}`)));
  });
  return async (files: 'keep' | 'delete'): Promise<void> => {
    child.stdin.end(`${files}\n`);
    await ended;
  };
}
