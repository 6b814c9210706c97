/** Two versions in two processes, each with code of its own. */
import { randomBytes } from 'node:crypto';
import type { Change } from '@mrtr/option/deploys';
import type { ListedOption } from '@mrtr/options';
import { Database } from '../processes/database.ts';
import { Fleet } from '../processes/fleet.ts';
import { Instance } from '../processes/instance.ts';
import { CHANGES } from './code/code.ts';
import type { Host } from './play.ts';

/** A process for version 1 and one for version 2. Each serves any number of plays at once. */
export class TwoProcesses {
  readonly #database: Database;
  readonly #old: Instance;
  readonly #next: Instance;
  readonly #postgres: string | undefined;

  private constructor(database: Database, [old, next]: readonly Instance[], postgres: string | undefined) {
    this.#database = database;
    this.#old = old as Instance;
    this.#next = next as Instance;
    this.#postgres = postgres;
  }

  /** Starts both. `postgres` is the database of calls, for H. */
  static async start(postgres?: string): Promise<TwoProcesses> {
    const database = await Database.listen();
    const instances = await Promise.all([Instance.start(database), Instance.start(database)]);
    return new TwoProcesses(database, instances, postgres);
  }

  /** Hosts a play: the old process serves it until the deploy, and gives it up then. */
  readonly host: Host = async (play, scene) => {
    const fleet = new Fleet(this.#database, scene);
    const key = randomBytes(32).toString('base64');
    const shared = { postgres: this.#postgres, key, legacy: 'shim', serve: 'stateless' } as const;
    await fleet.open('v1', this.#old, { ...versionOf(play.option, 'nothing'), ...shared });
    const { endpoint, framesHeld, close } = fleet;
    return {
      instances: ['v1', 'v2'],
      endpoint,
      framesHeld,
      deploy: async () => {
        await fleet.open('v2', this.#next, { ...versionOf(play.option, play.change), ...shared });
        await fleet.leave('v1');
        scene.recorder.record({ kind: 'restart', instance: 'v2', deployed: play.change });
      },
      close,
    };
  };

  async close(): Promise<void> {
    try {
      await Promise.all([this.#old, this.#next].filter(({ alive }) => alive).map((one) => one.stop()));
    } finally {
      await this.#database.close();
    }
  }
}

/** The version of an option's tool that a change makes: the module for another process, and the policy's `version`. */
export const versionOf = ({ id }: Pick<ListedOption, 'id'>, change: Change) => ({
  module: new URL(`./subject.ts?shape=${id}&change=${change}`, import.meta.url).href,
  version: CHANGES[change].version,
});
