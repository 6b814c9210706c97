/** The PostgreSQL of the live lab, for the option that keeps its calls in one. Nothing starts until it is chosen. */
import type { PostgresServer, StartOptions } from '@mrtr/postgres-server';

/** A server that is given, or started when the first database is asked for. */
export class Postgres {
  readonly #start: () => Promise<PostgresServer>;
  #server: Promise<PostgresServer> | undefined;

  /** `url` is the connection string of a server, of a role that may create databases. Default: one is started here. */
  constructor(url?: string, options?: StartOptions) {
    this.#start = async () => (await import('@mrtr/postgres-server')).postgresServer(url, options);
  }

  /** A new database. Where PostgreSQL does not start, this throws what it said, and the next call tries again. */
  async database(): Promise<string> {
    this.#server ??= this.#start();
    const starting = this.#server;
    // Only a start is forgotten: a server that runs may have the other side's calls.
    starting.catch(() => {
      if (this.#server === starting) this.#server = undefined;
    });
    return (await starting).database();
  }

  async stop(): Promise<void> {
    const starting = this.#server;
    this.#server = undefined;
    const server = await starting?.catch(() => undefined);
    await server?.stop();
  }
}
