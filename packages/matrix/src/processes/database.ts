/** The database of all instances: one world for each conversation, kept in the process that observes. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { MemoryLedger } from '@mrtr/core';
import type { StateLedger } from '@mrtr/core/seal';
import type { World } from '@mrtr/example-tools';
import { inInstance, type Recorder } from '@mrtr/harness';
import type { DatabaseMethods, InstanceMethods, Place } from './messages.ts';
import { type Rpc, rpcOver } from './rpc.ts';

export interface Scope {
  readonly world: World;
  readonly recorder: Recorder;
}

type Arrival = (instance: Rpc<InstanceMethods>) => void;

export class Database {
  readonly #server: Server;
  readonly #scopes = new Map<string, Scope>();
  readonly #expected = new Map<string, Arrival>();
  readonly #instances = new Set<Rpc<InstanceMethods>>();
  /** Of every scope: the ids of tokens are unique. */
  readonly #ledger: StateLedger = new MemoryLedger();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(): Promise<Database> {
    const server = createServer();
    const database = new Database(server);
    server.on('connection', (socket) => database.#accept(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return database;
  }

  /** The value of the variable for a process that will connect; `arrived` is called when it does. */
  expect(arrived: Arrival): string {
    // Nobody can guess the name, so no other process of this machine can pose as an instance.
    const name = randomBytes(16).toString('hex');
    this.#expected.set(name, arrived);
    return `${(this.#server.address() as AddressInfo).port}:${name}`;
  }

  /** Opens a scope. The returned function closes it; later writes to it fail. */
  open(name: string, scope: Scope): () => void {
    this.#scopes.set(name, scope);
    return () => void this.#scopes.delete(name);
  }

  /** Disconnects all instances. An instance that loses its database ends. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const instance of this.#instances) instance.close();
    await closed;
  }

  #accept(socket: Socket): void {
    const methods: DatabaseMethods = {
      hello: (name) => {
        const arrived = this.#expected.get(name);
        if (arrived) arrived(rpc);
        else rpc.close();
      },
      diagnostic: ({ scope, instance }, diagnostic) =>
        this.#scopes.get(scope)?.recorder.tell(diagnostic, instance),
      lease: (_place, presented) => this.#ledger.lease(presented),
      settle: (_place, id, lease, result) => this.#ledger.settle(id, lease, result),
      release: (_place, id, lease) => this.#ledger.release(id, lease),
      record: (place, entry) => this.#in(place, ({ audit }) => audit.record(entry)),
      find: (place, id) => this.#in(place, ({ items }) => items.find(id)),
      setState: (place, id, state) => this.#in(place, ({ items }) => items.setState(id, state)),
      resolve: (place, id, ...how) => this.#in(place, ({ items }) => items.resolve(id, ...how)),
    };
    const rpc = rpcOver<InstanceMethods, DatabaseMethods>(socket, methods);
    this.#instances.add(rpc);
    void rpc.closed.then(() => this.#instances.delete(rpc));
  }

  async #in<T>({ scope, instance }: Place, work: (world: World) => Promise<T>): Promise<T> {
    const found = this.#scopes.get(scope);
    if (!found) throw new Error(`The conversation '${scope}' is over.`);
    return inInstance(instance, () => work(found.world));
  }
}
