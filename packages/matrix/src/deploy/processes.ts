/** Two versions in two processes, each with code of its own. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Fetch } from '@mrtr/harness';
import type { Change } from '@mrtr/option/deploys';
import type { ListedOption } from '@mrtr/options';
import { Database } from '../processes/database.ts';
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
  readonly host: Host = async (play, { world, recorder }) => {
    const scope = randomUUID();
    const over = this.#database.open(scope, { world, recorder });
    const key = randomBytes(32).toString('base64');
    const open = async (instance: Instance, id: string, change: Change) => {
      const subject = { ...versionOf(play.option, change), postgres: this.#postgres };
      const opening = { ...subject, scope, instance: id, key };
      return { id, url: await instance.open({ ...opening, legacy: 'shim', serve: 'stateless' }) };
    };
    let current = await open(this.#old, 'v1', 'nothing');
    const fetchCurrent: Fetch = (_url, init) => {
      if (init?.method === 'POST') recorder.recordRoute(current.id, String(init.body));
      return fetch(current.url, init);
    };
    return {
      instances: ['v1', 'v2'],
      endpoint: () => ({ kind: 'http', url: current.url, fetch: fetchCurrent }),
      framesHeld: async () => {
        const held = await Promise.all([this.#old, this.#next].map((one) => one.framesHeld(scope)));
        return held.reduce((sum, frames) => sum + frames, 0);
      },
      deploy: async () => {
        const next = await open(this.#next, 'v2', play.change);
        await this.#old.close(scope);
        current = next;
        recorder.record({ kind: 'restart', instance: next.id, deployed: play.change });
      },
      close: async () => {
        await Promise.all([this.#old, this.#next].map((one) => one.close(scope)));
        over();
      },
    };
  };

  /** Ends both. */
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
