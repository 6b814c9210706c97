/** Deployments in real processes, for any number of conversations. Each has its own scope, world and key. */
import { randomUUID } from 'node:crypto';
import type { Hosting } from '@mrtr/harness';
import type { Deploy, Scene } from '../measure/converse.ts';
import { Database } from './database.ts';
import { Fleet } from './fleet.ts';
import { Instance } from './instance.ts';
import { DATABASE_VARIABLE, type InstanceMethods, type Opening, type SubjectModule } from './messages.ts';
import { instanceProgram } from './program.ts';
import type { Rpc } from './rpc.ts';

type Locate = (subject: { readonly id: string }) => SubjectModule;

/** A hosting that knows which process a kill has to hit. */
export interface ProcessHosting extends Hosting {
  /** The process that served the latest round. Undefined on stdio, where the process belongs to the client. */
  readonly servedLast: () => Instance | undefined;
}

/** One process with sessions, some without sessions that take turns, and the database of all. */
export class Processes {
  readonly #locate: Locate;
  readonly #database: Database;
  readonly #single: Instance;
  readonly #fleet: readonly Instance[];

  private constructor(locate: Locate, database: Database, [single, ...fleet]: readonly Instance[]) {
    this.#locate = locate;
    this.#database = database;
    this.#single = single as Instance;
    this.#fleet = fleet;
  }

  static async start(locate: Locate, { fleet = 3 } = {}): Promise<Processes> {
    const database = await Database.listen();
    const starting = Array.from({ length: 1 + fleet }, () => Instance.start(database));
    try {
      return new Processes(locate, database, await Promise.all(starting));
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** Hosts a conversation on what its request names: `stdio`, `http` or `processes`. */
  readonly deploy: Deploy<ProcessHosting> = async (scene) => {
    const { subject, hosting, legacy } = scene.request;
    const opening = { ...this.#locate(subject), key: Buffer.from(scene.key).toString('base64'), legacy };
    if (hosting === 'stdio') return this.#onStdio({ ...opening, serve: 'stdio' }, scene);
    if (hosting !== 'http' && hosting !== 'processes')
      throw new Error(`'${hosting}' hosting does not use separate processes.`);
    const alive = hosting === 'http' ? [this.#single] : this.#fleet.filter((instance) => instance.alive);
    const serve = hosting === 'http' ? 'sessions' : 'stateless';
    const fleet = new Fleet(this.#database, scene);
    await Promise.all(alive.map((one, at) => fleet.open(`i${at + 1}`, one, { ...opening, serve })));
    return fleet;
  };

  async close(): Promise<void> {
    const instances = [this.#single, ...this.#fleet].filter(({ alive }) => alive);
    try {
      await Promise.all(instances.map((instance) => instance.stop()));
    } finally {
      await this.#database.close();
    }
  }

  #onStdio(opening: Opening, scene: Scene): ProcessHosting {
    const place = { scope: randomUUID(), instance: 'i1' };
    const over = this.#database.open(place.scope, scene);
    let rpc: Rpc<InstanceMethods> | undefined;
    let failure: unknown;
    const address = this.#database.expect((arrived) => {
      rpc = arrived;
      arrived.remote.open(place, opening).catch((error: unknown) => {
        failure = error;
        arrived.close();
      });
    });
    return {
      instances: [place.instance],
      endpoint: () => {
        const program = instanceProgram({ [DATABASE_VARIABLE]: address });
        return { kind: 'stdio', ...program, startOnce: true };
      },
      servedLast: () => undefined,
      framesHeld: async () => rpc?.remote.framesHeld(place.scope).catch(() => 0) ?? 0,
      async close() {
        // The client has ended the process by now.
        await rpc?.closed;
        over();
        if (failure) throw failure;
      },
    };
  }
}
