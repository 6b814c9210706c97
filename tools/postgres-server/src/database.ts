/** `@mrtr/postgres-server/database`: the PostgreSQL of a command: a given one, or one that is started for this run. */

/** A PostgreSQL. Without `url`, one is started, and ends with this process. */
export interface Database {
  readonly url: string | undefined;
}

/** The variable with the connection string if the command line has none. Only the command line reads it. */
const VARIABLE = 'MRTR_POSTGRES';

/** PostgreSQL cannot be used, or not be started. */
export class DatabaseError extends Error {}

/** A text is no connection string. The message does not repeat it. */
export class InvalidDatabase extends Error {}

/** Reads `--postgres [url]`, or the variable. The error does not repeat a wrong text, which may contain a password. */
export function databaseOf(
  flag: string | true | undefined,
  env: Readonly<Record<string, string | undefined>>,
) {
  const given = typeof flag === 'string' ? flag : undefined;
  const url = given ?? env[VARIABLE];
  if (url === undefined || isConnectionString(url)) return { url };
  const where = given === undefined ? VARIABLE : '--postgres';
  throw new InvalidDatabase(
    `${where} takes a connection string: postgres://user:password@host:port/database.`,
  );
}

const isConnectionString = (url: string) =>
  URL.canParse(url) && /^postgres(?:ql)?:$/.test(new URL(url).protocol);

export const describeDatabase = ({ url }: Database) =>
  url === undefined ? 'PostgreSQL is started for this run, on 127.0.0.1.' : `PostgreSQL at ${placeOf(url)}.`;

/** Runs `work` with a database. If it starts a server, stops it afterwards; the server also ends with this process. */
export async function withDatabase<T>({ url }: Database, work: (postgres: string) => Promise<T>) {
  const { postgresServer, query } = await import('./index.ts');
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
    // If a name has several addresses, each has its own error, and the error of all has no message.
    const why = cause.message || cause.code;
    throw new DatabaseError(`PostgreSQL at ${placeOf(url)} cannot be used: ${why}`, { cause });
  }
  const why = cause.cause instanceof Error ? cause.cause.message : cause.message;
  throw new DatabaseError(`No PostgreSQL could be started here. Name one: --postgres URL.\n${why}`, {
    cause,
  });
};

function placeOf(url: string) {
  const { host, pathname } = new URL(url);
  return `${host || 'localhost'}${decodeURIComponent(pathname)}`;
}
