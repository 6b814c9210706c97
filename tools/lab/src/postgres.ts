/** The PostgreSQL for the option that stores calls. It starts on demand. */
import type { PostgresServer, StartOptions } from '@mrtr/postgres-server';

/** A given server, or one that starts with the first database. */
export class Postgres {
  readonly #start: () => Promise<PostgresServer>;
  #server: Promise<PostgresServer> | undefined;

  /** `url` is a connection string; its role must be allowed to create databases. Default: a server is started. */
  constructor(url?: string, options?: StartOptions) {
    this.#start = async () => (await import('@mrtr/postgres-server')).postgresServer(url, options);
  }

  /** Makes a database. If PostgreSQL does not start, throws its message. */
  async database() {
    this.#server ??= this.#start();
    return (await this.#server).database();
  }

  async stop() {
    const server = await this.#server?.catch(() => undefined);
    await server?.stop();
  }
}
