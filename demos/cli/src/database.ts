/** The PostgreSQL that calls of option H are kept in: one that is named, or one that is started for this run. */
import { UsageError } from './command-line.ts';
import type { Environment } from './terminal.ts';

/** Which one. Undefined as `url`: one that is started, and is over with this process. */
export interface Database {
  readonly url: string | undefined;
}

/** The variable with the connection string where the command line has none. Only the command line reads it. */
const VARIABLE = 'MRTR_POSTGRES';

/** It cannot be used. The exit code is 1. */
export class DatabaseError extends Error {}

/**
 * The database that `--postgres` names, or else the variable.
 *
 * @throws UsageError for text that is no connection string. It is not repeated: there may be a password in it.
 */
export function databaseOf(flag: string | undefined, env: Environment): Database {
  const url = flag ?? env[VARIABLE];
  if (url === undefined || isConnectionString(url)) return { url };
  const where = flag === undefined ? VARIABLE : '--postgres';
  throw new UsageError(`${where} takes a connection string: postgres://user:password@host:port/database.`);
}

/**
 * The database of `--store` and `--postgres`; undefined for the memory.
 *
 * @throws UsageError where only one of the two asks for a database.
 */
export function withStore(
  store: 'memory' | 'postgres',
  flag: string | undefined,
  env: Environment,
): Database | undefined {
  if (store === 'postgres') return databaseOf(flag, env);
  if (flag !== undefined) throw new UsageError('--postgres goes with --store postgres.');
  return undefined;
}

const isConnectionString = (url: string): boolean =>
  URL.canParse(url) && /^postgres(?:ql)?:$/.test(new URL(url).protocol);

/** A database in words, without its password. */
export const described = ({ url }: Database): string =>
  url === undefined ? 'PostgreSQL is started for this run, on 127.0.0.1.' : `PostgreSQL at ${placeOf(url)}.`;

/**
 * Does `work` with the connection string of the database. A server that is started is stopped after that, and ends with
 * this process in any case.
 *
 * @throws DatabaseError when it cannot be reached, or does not start.
 */
export async function withDatabase<T>({ url }: Database, work: (postgres: string) => Promise<T>): Promise<T> {
  const { postgresServer, query } = await import('@mrtr/postgres-server');
  if (url !== undefined) {
    await query(url, 'SELECT 1').catch(unusable(url));
    return work(url);
  }
  const server = await postgresServer().catch(unusable(undefined));
  try {
    return await work(await server.database());
  } finally {
    await server.stop();
  }
}

const unusable = (url: string | undefined) => (cause: NodeJS.ErrnoException) => {
  if (url !== undefined) {
    // Where a name has several addresses, each has an error, and all of them together have no message.
    const why = cause.message || cause.code;
    throw new DatabaseError(`PostgreSQL at ${placeOf(url)} cannot be used: ${why}`, { cause });
  }
  const why = cause.cause instanceof Error ? cause.cause.message : cause.message;
  throw new DatabaseError(`No PostgreSQL could be started here. Name one: --postgres URL.\n${why}`, {
    cause,
  });
};

function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host || 'localhost'}${decodeURIComponent(pathname)}`;
}
