/** `pnpm serve`: one option, for a client of one's own. With stdio, stdout carries protocol only. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { InvalidPolicy, requestStatePolicy } from '@mrtr/core';
import { type HttpHosting, listVerifier, type OnError, type Served, serveHttp } from '@mrtr/hosting/http';
import { serveStdio } from '@mrtr/hosting/stdio';
import { createWorld, openMeteo } from '@mrtr/tools';
import { headingOf, loadOption } from './catalog.ts';
import { DatabaseError, described, withDatabase } from './database.ts';
import { printable } from './printable.ts';
import { type HttpSettings, readServeArgs, SERVE_HELP, type ServeSettings } from './serve-args.ts';
import { UsageError } from './usage-error.ts';

/** Runs the command; resolves with its exit code, when nothing is served any more. */
export async function serve(args: readonly string[]): Promise<number> {
  try {
    const settings = readServeArgs(args, process.env);
    if (settings) return await run(settings);
    process.stdout.write(SERVE_HELP);
    return 0;
  } catch (error) {
    if (error instanceof DatabaseError) {
      say(error.message);
      return 1;
    }
    if (!(error instanceof UsageError)) throw error;
    say(`${error.message}\nMore: pnpm serve --help`);
    return 2;
  }
}

async function run(settings: ServeSettings): Promise<number> {
  const { database, http } = settings;
  if (database && http) say(described(database));
  const code = await (database
    ? withDatabase(database, () => serveUntilOver(settings))
    : serveUntilOver(settings));
  // What is closed is over, whatever a tool may still be waiting for.
  process.exit(code);
}

async function serveUntilOver(settings: ServeSettings): Promise<number> {
  const served = await servedBy(settings);
  if (!settings.http) {
    const { closed, close } = serveStdio(served, report);
    await Promise.race([closed, signalled(close)]);
  } else {
    const hosting = await listen(served, settings.http);
    if (typeof hosting === 'string') {
      say(hosting);
      await served.close();
      return 1;
    }
    say(`${headingOf(settings.option, settings.database && 'postgres')}, at ${hosting.url}`);
    await signalled(() => hosting.close());
  }
  return 0;
}

async function servedBy({ option, legacy, weather, keys, database }: ServeSettings): Promise<Served> {
  const world = createWorld({ ...(weather === 'open-meteo' && { weather: openMeteo() }) });
  // A database that is over with this process needs no key that is not.
  const own = database ? [randomBytes(32)] : undefined;
  try {
    const loaded = await loadOption(option, database && 'postgres');
    return loaded.create({ world, state: requestStatePolicy({ keys: keys ?? own, legacy }) });
  } catch (error) {
    if (!(error instanceof InvalidPolicy)) throw error;
    throw new UsageError(`--state-key-env: ${error.message}`);
  }
}

async function listen(served: Served, settings: HttpSettings): Promise<HttpHosting | string> {
  const { host, port, allowedHosts, holders } = settings;
  const verifier = holders && listVerifier(holders);
  try {
    return await serveHttp(served, { host, port, allowedHosts, verifier, onerror: report });
  } catch (error) {
    const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    return `Cannot listen on ${host}, port ${port}: ${reason}`;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use. Take another one, or 0 for any that is free.',
  EACCES: 'this user may not. Ports from 1024 on are for everybody.',
  EADDRNOTAVAIL: 'this machine does not have that address.',
  ENOTFOUND: 'that name has no address.',
};

/** Resolves when a signal has come and everything is closed. A second signal does not wait. */
function signalled(close: () => Promise<void>): Promise<void> {
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

const report: OnError = (error) => say(printable(error.message));

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
