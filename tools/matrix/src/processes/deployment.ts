/** Deployments in real processes, for any number of conversations, each with its own scope, world and key. */

import type { StartHosting } from '@mrtr/comparison/calls';
import type { Hosting } from '@mrtr/harness';
import { Database } from './database.ts';
import { Fleet } from './fleet.ts';
import { Instance } from './instance.ts';
import type { SubjectModule } from './messages.ts';

type Locate = (subject: { readonly id: string }) => SubjectModule;

/** A hosting that knows the process to kill. */
export interface ProcessHosting extends Hosting {
  /** The process that served the latest round. */
  readonly servedLast: () => Instance | undefined;
}

/** One process with sessions, several without that take turns, and the database of all. */
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
    const database = new Database();
    const starting = Array.from({ length: 1 + fleet }, () => Instance.start(database));
    try {
      return new Processes(locate, database, await Promise.all(starting));
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Hosts a conversation on the hosting of its request: `http` or `processes`. */
  readonly startHosting: StartHosting<ProcessHosting> = async (context) => {
    const { subject, hosting, legacy } = context.request;
    const opening = { ...this.#locate(subject), key: Buffer.from(context.key).toString('base64'), legacy };
    if (hosting !== 'http' && hosting !== 'processes')
      throw new Error(`'${hosting}' hosting does not use separate processes.`);
    const alive = hosting === 'http' ? [this.#single] : this.#fleet.filter((instance) => instance.alive);
    const serve = hosting === 'http' ? 'sessions' : 'stateless';
    const fleet = new Fleet(this.#database, context);
    await Promise.all(alive.map((one, at) => fleet.open(`i${at + 1}`, one, { ...opening, serve })));
    return fleet;
  };

  async close(): Promise<void> {
    const instances = [this.#single, ...this.#fleet].filter(({ alive }) => alive);
    await Promise.all(instances.map((instance) => instance.stop()));
    this.#database.close();
  }
}
