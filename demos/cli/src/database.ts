/** The PostgreSQL that calls of option H are kept in: one that is named, or one that is started for this run. */
import { UsageError } from './usage-error.ts';

/** Which one. Undefined as `url`: one that is started, and is over with this process. */
export interface Database {
  readonly url: string | undefined;
}

/** The variable with the connection string where the command line has none; the option itself reads it. */
export const POSTGRES_VARIABLE = 'MRTR_POSTGRES';

/** It cannot be used. The exit code is 1. */
export class DatabaseError extends Error {}

/**
 * The database that `--postgres` names, or the variable, or nobody.
 *
 * @throws UsageError for what is no connection string, which is not repeated: there may be a password in it.
 */
export function databaseOf(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Database {
  const url = flag ?? env[POSTGRES_VARIABLE];
  if (url === undefined || isConnectionString(url)) return { url };
  const where = flag === undefined ? POSTGRES_VARIABLE : '--postgres';
  throw new UsageError(`${where} takes a connection string: postgres://user:password@host:port/database.`);
}

const isConnectionString = (url: string): boolean =>
  URL.canParse(url) && /^postgres(?:ql)?:$/.test(new URL(url).protocol);

/** What is to be said of a database before it is used; a password is not. */
export const described = ({ url }: Database): string =>
  url === undefined ? 'PostgreSQL is started for this run, on 127.0.0.1.' : `PostgreSQL at ${placeOf(url)}.`;

/**
 * Does `work` with the database there, and named in the environment of this process and its children. One that is
 * started is stopped after that, and ends with this process in any case.
 *
 * @throws DatabaseError when it cannot be reached, or does not start.
 */
export async function withDatabase<T>({ url }: Database, work: () => Promise<T>): Promise<T> {
  const { postgresServer, query } = await import('@mrtr/postgres-server');
  const server = url === undefined ? await postgresServer().catch(unusable(undefined)) : undefined;
  try {
    const own = await server?.database();
    if (url !== undefined) await query(url, 'SELECT 1').catch(unusable(url));
    process.env[POSTGRES_VARIABLE] = own ?? url;
    return await work();
  } finally {
    await server?.stop();
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
