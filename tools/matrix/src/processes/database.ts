/** The database of all instances, in the measuring process. It has one world per conversation. */
import type { ChildProcess } from 'node:child_process';
import type { World } from '@mrtr/comparison';
import { MemoryLedger } from '@mrtr/core';
import type { StateLedger } from '@mrtr/core/seal';
import { inInstance, type Recorder } from '@mrtr/harness/internal';
import type { DatabaseMethods, InstanceAddress, InstanceMethods } from './messages.ts';
import { type Rpc, rpcOver } from './rpc.ts';

export interface Scope {
  readonly world: World;
  readonly recorder: Recorder;
}

export class Database {
  readonly #scopes = new Map<string, Scope>();
  readonly #instances = new Set<Rpc<InstanceMethods>>();
  readonly #ledger: StateLedger = new MemoryLedger();

  /** Resolves when the instance in a new process is ready to serve. */
  connect(child: ChildProcess): Promise<Rpc<InstanceMethods>> {
    return new Promise((resolve) => {
      const rpc: Rpc<InstanceMethods> = rpcOver(
        child,
        this.#methods(() => resolve(rpc)),
      );
      this.#instances.add(rpc);
      void rpc.closed.then(() => this.#instances.delete(rpc));
    });
  }

  /** Opens a scope. The returned function closes it; later writes to it fail. */
  open(name: string, scope: Scope): () => void {
    this.#scopes.set(name, scope);
    return () => void this.#scopes.delete(name);
  }

  /** Disconnects all instances, which ends them. */
  close(): void {
    for (const instance of this.#instances) instance.close();
  }

  #methods(hello: () => void): DatabaseMethods {
    return {
      hello,
      diagnostic: ({ scope, instance }, diagnostic) =>
        this.#scopes.get(scope)?.recorder.recordDiagnostic(diagnostic, instance),
      lease: (presented) => this.#ledger.lease(presented),
      settle: (id, lease, result) => this.#ledger.settle(id, lease, result),
      release: (id, lease) => this.#ledger.release(id, lease),
      record: (place, entry) => this.#in(place, ({ audit }) => audit.record(entry)),
      find: (place, id) => this.#in(place, ({ items }) => items.find(id)),
      setState: (place, id, state) => this.#in(place, ({ items }) => items.setState(id, state)),
      resolve: (place, id, ...how) => this.#in(place, ({ items }) => items.resolve(id, ...how)),
    };
  }

  async #in<T>({ scope, instance }: InstanceAddress, work: (world: World) => Promise<T>): Promise<T> {
    const found = this.#scopes.get(scope);
    if (!found) throw new Error(`The conversation '${scope}' is over.`);
    return inInstance(instance, () => work(found.world));
  }
}
