/** The live lab: two sides, and commands to them. */
import { createDatabase } from '@mrtr/matrix/processes';
import { type OwnOptions, OwnServer } from './own/own-server.ts';
import { openPane, type Pane } from './pane.ts';
import { Postgres } from './postgres.ts';
import type { Command, SideChange, SideState } from './protocol.ts';
import { OWN, type SetUp, SIDES, type SideName, setUp } from './set-up.ts';

export class Lab {
  readonly #database = createDatabase();
  readonly #postgres: Postgres;
  readonly #sides: Readonly<Record<SideName, Pane>>;
  readonly #watchers = new Set<(change: SideChange) => void>();
  /** Each side runs one command at a time, so that no command sees another half done. */
  readonly #queues: Record<SideName, Promise<void>>;
  readonly #pending = new Set<SideName>();

  /**
   * Starts the lab's processes, without waiting for them. `postgres` is for the option that stores calls. With a server of
   * the user's own, the right side stays off until it is set up.
   *
   * @throws Error for a server that cannot be meant
   */
  constructor(postgres = new Postgres(), own?: OwnOptions) {
    this.#postgres = postgres;
    const side = (name: SideName, first: SetUp) => {
      const means = { database: this.#database, postgres, own: own && new OwnServer(own) };
      return openPane(means, first, () => this.#announce(name));
    };
    const { tool = '', arguments: given = {} } = own ?? {};
    const ownSetUp = setUp(OWN, { instances: 'one', own: { tool, arguments: given } });
    const left = side('left', own ? ownSetUp : setUp('b'));
    const right = side('right', own ? { ...ownSetUp, client: 'legacy' } : setUp('h'));
    this.#sides = { left, right };
    const started = (pane: Pane) => pane.start().catch((error: unknown) => pane.fail(error));
    this.#queues = { left: started(left), right: own ? Promise.resolve() : started(right) };
  }

  /** Runs a command. A refusal is shown on its side. */
  async do(command: Command) {
    const side = this.#sides[command.side];
    const done = this.#queues[command.side].then(() => side.run(command));
    this.#queues[command.side] = done.catch((error: unknown) => side.fail(error));
    await this.#queues[command.side];
  }

  /** Calls `watcher` with both sides now, and with each change, until the returned function is called. */
  watch(watcher: (change: SideChange) => void): () => void {
    this.#watchers.add(watcher);
    for (const side of SIDES) watcher({ side, state: this.#sides[side].state });
    return () => void this.#watchers.delete(watcher);
  }

  /** Resolves with the state of a side when `is` holds for it. */
  until(side: SideName, is: (state: SideState) => boolean): Promise<SideState> {
    return new Promise((resolve) => {
      let stop = () => {};
      stop = this.watch(({ side: changed, state }) => {
        if (changed !== side || !is(state)) return;
        // The state may fit already.
        queueMicrotask(() => stop());
        resolve(state);
      });
    });
  }

  async close() {
    await Promise.allSettled(Object.values(this.#queues));
    await Promise.all(Object.values(this.#sides).map((side) => side.close()));
    this.#database.close();
    await this.#postgres.stop();
  }

  /** Sends one change per turn, with the latest state. */
  #announce(side: SideName) {
    if (this.#pending.has(side)) return;
    this.#pending.add(side);
    setImmediate(() => {
      this.#pending.delete(side);
      const change = { side, state: this.#sides[side].state };
      for (const watcher of this.#watchers) watcher(change);
    });
  }
}
