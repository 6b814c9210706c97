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

  /** A new database. Where PostgreSQL does not start, this throws what it said. */
  async database(): Promise<string> {
    this.#server ??= this.#start();
    return (await this.#server).database();
  }

  async stop(): Promise<void> {
    const server = await this.#server?.catch(() => undefined);
    await server?.stop();
  }
}
