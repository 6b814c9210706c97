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

export type Database = ReturnType<typeof createDatabase>;

export function createDatabase() {
  const scopes = new Map<string, Scope>();
  const instances = new Set<Rpc<InstanceMethods>>();
  const ledger: StateLedger = new MemoryLedger();

  async function within<T>({ scope, instance }: InstanceAddress, work: (world: World) => Promise<T>) {
    const found = scopes.get(scope);
    if (!found) throw new Error(`The conversation '${scope}' is over.`);
    return inInstance(instance, () => work(found.world));
  }

  const methodsFor = (hello: () => void): DatabaseMethods => ({
    hello,
    diagnostic: ({ scope, instance }, diagnostic) =>
      scopes.get(scope)?.recorder.recordDiagnostic(diagnostic, instance),
    lease: (presented) => ledger.lease(presented),
    settle: (id, lease, result) => ledger.settle(id, lease, result),
    release: (id, lease) => ledger.release(id, lease),
    record: (place, entry) => within(place, ({ audit }) => audit.record(entry)),
    find: (place, id) => within(place, ({ items }) => items.find(id)),
    setState: (place, id, state) => within(place, ({ items }) => items.setState(id, state)),
    resolve: (place, id, ...how) => within(place, ({ items }) => items.resolve(id, ...how)),
  });

  return {
    /** Resolves when the instance in a new process is ready to serve. */
    connect: (child: ChildProcess): Promise<Rpc<InstanceMethods>> =>
      new Promise((resolve) => {
        const rpc: Rpc<InstanceMethods> = rpcOver(
          child,
          methodsFor(() => resolve(rpc)),
        );
        instances.add(rpc);
        void rpc.closed.then(() => instances.delete(rpc));
      }),

    /** Opens a scope. The returned function closes it; later writes to it fail. */
    open(name: string, scope: Scope) {
      scopes.set(name, scope);
      return () => void scopes.delete(name);
    },

    /** Disconnects all instances, which ends them. */
    close() {
      for (const instance of instances) instance.close();
    },
  };
}
