/** Deployments in real processes, for any number of conversations. Each has its own port, world and key. */
import { randomUUID } from 'node:crypto';
import type { Hosting, Recorder } from '@mrtr/harness';
import type { Deploy, Scene } from '../measure/converse.ts';
import { Database } from './database.ts';
import { Instance } from './instance.ts';
import { DATABASE_VARIABLE, type InstanceMethods, type Opening, type SubjectModule } from './messages.ts';
import { instanceProgram } from './program.ts';
import { RoundRobinProxy } from './proxy.ts';
import type { Rpc } from './rpc.ts';

/** Tells where another process finds a subject. */
export type Locate = (subject: { readonly id: string }) => SubjectModule;

/** A hosting that knows which process a kill has to hit. */
export interface ProcessHosting extends Hosting {
  /** The process that served the latest round. Undefined on stdio, where the process belongs to the client. */
  readonly servedLast: () => Instance | undefined;
}

/** One process with sessions, some without sessions behind a proxy, and the database of all. */
export class Processes {
  readonly #locate: Locate;
  readonly #database: Database;
  readonly #proxy: RoundRobinProxy;
  readonly #single: Instance;
  readonly #fleet: readonly Instance[];

  private constructor(
    locate: Locate,
    database: Database,
    proxy: RoundRobinProxy,
    [single, ...fleet]: readonly Instance[],
  ) {
    this.#locate = locate;
    this.#database = database;
    this.#proxy = proxy;
    this.#single = single as Instance;
    this.#fleet = fleet;
  }

  /** Starts them all, with `fleet` instances behind the proxy. The caller has to `close` them. */
  static async start(locate: Locate, { fleet = 3 } = {}): Promise<Processes> {
    const [database, proxy] = await Promise.all([Database.listen(), RoundRobinProxy.listen()]);
    const starting = Array.from({ length: 1 + fleet }, () => Instance.start(database));
    try {
      return new Processes(locate, database, proxy, await Promise.all(starting));
    } catch (error) {
      await Promise.all([database.close(), proxy.close()]);
      throw error;
    }
  }

  /** Hosts a conversation on what its request names: `stdio`, `http` or `processes`. */
  readonly deploy: Deploy<ProcessHosting> = (scene) => {
    const { subject, hosting, legacy } = scene.request;
    const scope = randomUUID();
    const key = Buffer.from(scene.key).toString('base64');
    const opening = { ...this.#locate(subject), scope, instance: 'i1', key, legacy };
    const over = this.#database.open(scope, scene);
    switch (hosting) {
      case 'stdio':
        return this.#onStdio({ ...opening, serve: 'stdio' }, over);
      case 'http':
        return this.#onHttp({ ...opening, serve: 'sessions' }, scene, over);
      case 'processes':
        return this.#onFleet({ ...opening, serve: 'stateless' }, scene, over);
      default:
        throw new Error(`'${hosting}' hosting does not use separate processes.`);
    }
  };

  /** Ends every process, and everything that listens. */
  async close(): Promise<void> {
    const instances = [this.#single, ...this.#fleet].filter(({ alive }) => alive);
    try {
      await Promise.all(instances.map((instance) => instance.stop()));
    } finally {
      await Promise.all([this.#database.close(), this.#proxy.close()]);
    }
  }

  #onStdio(opening: Opening, over: () => void): ProcessHosting {
    let rpc: Rpc<InstanceMethods> | undefined;
    let failure: unknown;
    const address = this.#database.expect((arrived) => {
      rpc = arrived;
      arrived.remote.open(opening).catch((error: unknown) => {
        failure = error;
        arrived.close();
      });
    });
    return {
      instances: [opening.instance],
      endpoint: () => ({ kind: 'stdio', ...instanceProgram({ [DATABASE_VARIABLE]: address }) }),
      servedLast: () => undefined,
      framesHeld: async () => rpc?.remote.framesHeld(opening.scope).catch(() => 0) ?? 0,
      async close() {
        // The client has ended the process by now.
        await rpc?.closed;
        over();
        if (failure) throw failure;
      },
    };
  }

  async #onHttp(opening: Opening, { recorder }: Scene, over: () => void): Promise<ProcessHosting> {
    const url = await this.#single.open(opening);
    return {
      ...hostingOn([this.#single], opening.scope, recorder, over),
      endpoint: () => ({ kind: 'http', url }),
      servedLast: () => this.#single,
    };
  }

  async #onFleet(opening: Opening, { recorder }: Scene, over: () => void): Promise<ProcessHosting> {
    const alive = this.#fleet.filter((instance) => instance.alive);
    const held = hostingOn(alive, opening.scope, recorder, over);
    const open = (instance: Instance, at: number) => instance.open({ ...opening, instance: idOf(at) });
    const route = this.#proxy.route(opening.scope, await Promise.all(alive.map(open)));
    route.onRequest = (upstream, body) => recorder.recordRoute(idOf(upstream), body);
    return {
      ...held,
      endpoint: () => ({ kind: 'http', url: route.url }),
      servedLast: () => (route.lastServed === undefined ? undefined : alive[route.lastServed]),
      close: async () => {
        this.#proxy.unroute(route);
        await held.close();
      },
    };
  }
}

/** The parts of a hosting on `instances` that do not depend on where it listens. */
function hostingOn(instances: readonly Instance[], scope: string, recorder: Recorder, over: () => void) {
  const listeners = instances.map((_, at) => () => recorder.record({ kind: 'kill', instance: idOf(at) }));
  for (const [at, instance] of instances.entries()) instance.onKill.add(listeners[at] as () => void);
  return {
    instances: instances.map((_, at) => idOf(at)),
    framesHeld: async () => {
      const held = await Promise.all(instances.map((instance) => instance.framesHeld(scope)));
      return held.reduce((sum, frames) => sum + frames, 0);
    },
    async close() {
      for (const [at, instance] of instances.entries()) instance.onKill.delete(listeners[at] as () => void);
      await Promise.all(instances.map((instance) => instance.close(scope)));
      over();
    },
  };
}

const idOf = (at: number): string => `i${at + 1}`;
