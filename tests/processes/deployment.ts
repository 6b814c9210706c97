/** Deployments in real processes, for any number of conversations: each has a port, a world and a key of its own. */
import { randomUUID } from 'node:crypto';
import type { Hosting } from '@mrtr/harness';
import type { Deploy } from '../matrix/index.ts';
import { Database } from './database.ts';
import { Instance } from './instance.ts';
import { DATABASE_VARIABLE, type InstanceMethods, type Opening, type SubjectModule } from './messages.ts';
import type { Peer } from './peer.ts';
import { instanceProgram } from './program.ts';
import { RoundRobinProxy } from './proxy.ts';

/** Tells where another process finds a subject. */
export type Locate = (subject: { readonly id: string }) => SubjectModule;

/** A hosting of which one process can be blamed: what a kill has to hit. */
export interface ProcessHosting extends Hosting {
  /** The process that served the latest round. Undefined on stdio, where it belongs to the client. */
  readonly servedLast: () => Instance | undefined;
}

/** One process that holds sessions, some that hold none behind a proxy, and the database of all. */
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

  /** Starts them all, with `fleet` instances behind the proxy. Whoever starts them has to `close` them. */
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
    const scope = randomUUID();
    const opening = {
      ...this.#locate(scene.request.subject),
      scope,
      key: Buffer.from(scene.key).toString('base64'),
      legacy: scene.request.legacy,
    };
    const over = this.#database.open(scope, scene);
    switch (scene.request.hosting) {
      case 'stdio':
        return this.#onStdio({ ...opening, serve: 'stdio' }, over);
      case 'http':
        return this.#onHttp({ ...opening, serve: 'sessions' }, over);
      case 'processes':
        return this.#onFleet({ ...opening, serve: 'stateless' }, over);
      default:
        throw new Error(`'${scene.request.hosting}' hosting is not in processes of its own.`);
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
    let peer: Peer<InstanceMethods> | undefined;
    let failure: unknown;
    const address = this.#database.expect((arrived) => {
      peer = arrived;
      arrived.call('open', opening).catch((error: unknown) => {
        failure = error;
        arrived.close();
      });
    });
    return {
      endpoint: () => ({ kind: 'stdio', ...instanceProgram({ [DATABASE_VARIABLE]: address }) }),
      servedLast: () => undefined,
      framesHeld: async () => peer?.call('framesHeld', opening.scope).catch(() => 0) ?? 0,
      async close() {
        // The client has ended the process by now.
        await peer?.closed;
        over();
        if (failure) throw failure;
      },
    };
  }

  async #onHttp(opening: Opening, over: () => void): Promise<ProcessHosting> {
    const url = await this.#single.open(opening);
    return {
      endpoint: () => ({ kind: 'http', url }),
      servedLast: () => this.#single,
      ...this.#heldBy([this.#single], opening.scope, over),
    };
  }

  async #onFleet(opening: Opening, over: () => void): Promise<ProcessHosting> {
    const instances = this.#fleet.filter(({ alive }) => alive);
    const upstreams = await Promise.all(instances.map((instance) => instance.open(opening)));
    const route = this.#proxy.route(opening.scope, upstreams);
    const held = this.#heldBy(instances, opening.scope, over);
    return {
      ...held,
      endpoint: () => ({ kind: 'http', url: route.url }),
      servedLast: () => (route.lastServed === undefined ? undefined : instances[route.lastServed]),
      close: async () => {
        this.#proxy.unroute(route);
        await held.close();
      },
    };
  }

  #heldBy(instances: readonly Instance[], scope: string, over: () => void) {
    return {
      framesHeld: async () => {
        const held = await Promise.all(instances.map((instance) => instance.framesHeld(scope)));
        return held.reduce((sum, frames) => sum + frames, 0);
      },
      async close() {
        await Promise.all(instances.map((instance) => instance.close(scope)));
        over();
      },
    };
  }
}
