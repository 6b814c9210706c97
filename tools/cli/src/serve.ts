/** `pnpm serve`: serves one option to your own client. With stdio, stdout carries only protocol messages. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { createWorld } from '@mrtr/comparison';
import { InvalidOption, MemoryLedger, requestStatePolicy } from '@mrtr/core';
import { escapeHidden } from '@mrtr/harness/internal';
import { serveHttp } from '@mrtr/hosting/http';
import { serveOverStdio } from '@mrtr/hosting/stdio';
import { describeDatabase, withDatabase } from '@mrtr/postgres-server/database';
import { headingOf, loadOptionOf } from './catalog.ts';
import { UsageError } from './command-line.ts';
import { readServeArgs, type ServeSettings } from './serve-args.ts';
import type { Terminal } from './terminal.ts';

/** Runs the command; resolves with its exit code when serving has ended. */
export async function serve(args: readonly string[], terminal: Terminal) {
  const settings = readServeArgs(args, terminal);
  const say = (text: string) => void terminal.stderr.write(`${text}\n`);
  if (!settings) return 0;
  const { database, http } = settings;
  if (database && http) say(describeDatabase(database));
  const run = (postgres?: string) => serveUntilOver(settings, say, postgres);
  return database ? withDatabase(database, run) : run();
}

type Say = (text: string) => void;

async function serveUntilOver(settings: ServeSettings, say: Say, postgres?: string) {
  const report = (error: Error) => say(escapeHidden(error.message));
  const served = await instanceOf(settings, postgres);
  if (!settings.http) {
    const { closed, close } = serveOverStdio(served, { onerror: report });
    await Promise.race([closed, closeOnSignal(close)]);
    return 0;
  }
  try {
    const hosting = await serveHttp(served, { ...settings.http, onerror: report });
    say(`${headingOf(settings.demo, postgres !== undefined)}, at ${hosting.url}`);
    await closeOnSignal(() => hosting.close());
    return 0;
  } catch (error) {
    const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    say(`Cannot listen on port ${settings.http.port}: ${reason}`);
    await served.close?.();
    return 1;
  }
}

async function instanceOf({ demo, legacy, keys }: ServeSettings, postgres?: string) {
  const world = createWorld();
  // A database that ends with this process needs no key that outlives the process.
  const own = postgres === undefined ? undefined : [randomBytes(32)];
  const option = await loadOptionOf(demo, postgres);
  try {
    // The store serves each token once by itself, so this ledger stays empty.
    const ledger = postgres === undefined ? undefined : new MemoryLedger();
    return option.create({ world, policy: requestStatePolicy({ keys: keys ?? own, legacy, ledger }) });
  } catch (error) {
    if (!(error instanceof InvalidOption)) throw error;
    throw new UsageError(`--state-key-env: ${error.message}`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use. Take another one, or 0 for any that is free.',
  EACCES: 'this user may not. Ports from 1024 on are for everybody.',
};

/** Resolves when a signal has come and everything is closed. A second signal does not wait. */
function closeOnSignal(close: () => Promise<void>) {
  return new Promise((resolve, reject) => {
    let closing = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (closing) process.exit(128 + constants.signals[signal]);
        closing = true;
        close().then(resolve, reject);
      });
    }
  });
}
