/** The database of all instances: one world for each conversation, kept in the process that observes. */
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Recorder } from '@mrtr/harness';
import type { World } from '@mrtr/tools';
import type { DatabaseMethods, InstanceMethods } from './messages.ts';
import { Peer } from './peer.ts';

/** What instances may write to, and whom they tell what they do. */
export interface Scope {
  readonly world: World;
  readonly recorder: Recorder;
}

type Arrival = (instance: Peer<InstanceMethods>) => void;

/** Listens on loopback. */
export class Database {
  readonly #server: Server;
  readonly #scopes = new Map<string, Scope>();
  readonly #expected = new Map<string, Arrival>();
  readonly #peers = new Set<Peer<InstanceMethods>>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts to listen. */
  static async listen(): Promise<Database> {
    const server = createServer();
    const database = new Database(server);
    server.on('connection', (socket) => database.#connected(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return database;
  }

  /** What to tell a process that shall connect; `arrived` is called with each that does. */
  expect(arrived: Arrival): string {
    // Nobody can guess the name, so nobody else on this machine can pass for an instance.
    const name = randomBytes(16).toString('hex');
    this.#expected.set(name, arrived);
    return `${(this.#server.address() as AddressInfo).port}:${name}`;
  }

  /** Opens a scope; the returned function closes it, and what is written to it afterwards fails. */
  open(name: string, scope: Scope): () => void {
    this.#scopes.set(name, scope);
    return () => void this.#scopes.delete(name);
  }

  /** Disconnects everybody: an instance that loses its database ends. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const peer of this.#peers) peer.close();
    await closed;
  }

  #connected(socket: Socket): void {
    const world = (scope: string): World => {
      const found = this.#scopes.get(scope);
      if (!found) throw new Error(`The conversation '${scope}' is over.`);
      return found.world;
    };
    const methods: DatabaseMethods = {
      hello: (name) => {
        const arrived = this.#expected.get(name);
        if (arrived) arrived(peer);
        else peer.close();
      },
      diagnostic: ({ scope, diagnostic }) => this.#scopes.get(scope)?.recorder.tell(diagnostic),
      record: async ({ scope, entry }) => world(scope).audit.record(entry),
      find: async ({ scope, id }) => world(scope).items.find(id),
      setState: async ({ scope, id, state }) => world(scope).items.setState(id, state),
      resolve: async ({ scope, id, resolution, original }) =>
        world(scope).items.resolve(id, resolution, original),
    };
    const peer = new Peer<InstanceMethods>(socket, methods);
    this.#peers.add(peer);
    void peer.closed.then(() => this.#peers.delete(peer));
  }
}
