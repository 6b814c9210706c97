/** A server in this process with clients of both eras, for unit tests. */
import type { AuthInfo, Client } from '@modelcontextprotocol/client';
import type { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import type { McpServer } from '@modelcontextprotocol/server';
import type { ClientApplication } from '../clients/client-application.ts';
import { legacyClient, modernClient } from '../clients/connect.ts';
import { type Fetch, NO_SOCKET } from '../hosts/endpoint.ts';
import { type Post, poster } from '../hosts/posting.ts';
import { serveFactory } from '../hosts/serve-factory.ts';

/** A served factory, without a socket. */
export class InProcess {
  /** The authenticated caller of the clients' further requests. `post` has its own option. */
  caller: AuthInfo | undefined;
  /** Posts a request without a client. */
  readonly post: Post;
  readonly #server: () => McpServer;
  readonly #handler: ReturnType<typeof serveFactory>;
  readonly #clients: { close(): Promise<void> }[] = [];

  /**
   * @param server makes a server for each request of a modern client, and for each connection of an old one. If it throws,
   * the request rejects with that error as its cause.
   * @example
   * const site = new InProcess(() => createMyServer());
   * const client = await site.modern({ user: () => ({ action: 'decline' }) });
   * await client.callTool({ name: 'deploy', arguments: {} });
   * await site.close();
   */
  constructor(server: () => McpServer) {
    this.#server = server;
    this.#handler = serveFactory(server);
    this.post = poster(this.#handler);
  }

  /** The stateless HTTP face. */
  readonly fetch: Fetch = (url, init) =>
    this.#handler.fetch(new Request(url, init), this.caller && { authInfo: this.caller });

  /** Connects the v2 client, pinned to 2026-07-28, over the stateless HTTP face. */
  async modern(application?: ClientApplication): Promise<Client> {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const transport = new StreamableHTTPClientTransport(NO_SOCKET, { fetch: this.fetch });
    return this.#closing(await modernClient(transport, application));
  }

  /** Connects the published v1 client in memory. */
  async legacy(application?: ClientApplication): Promise<LegacyClient> {
    const { linkTo: linkedTo } = await import('../clients/legacy.ts');
    return this.#closing(await legacyClient(await linkedTo(this.#server(), () => this.caller), application));
  }

  /** Closes the clients and the server. */
  async close(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
    await this.#handler.close();
  }

  #closing<T extends { close(): Promise<void> }>(client: T) {
    this.#clients.push(client);
    return client;
  }
}
