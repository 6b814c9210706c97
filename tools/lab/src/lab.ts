/** The live lab: two sides, and commands to them. */
import { Database } from '@mrtr/matrix/processes';
import { setUp } from './lessons.ts';
import { Pane, Refused } from './pane.ts';
import { Postgres } from './postgres.ts';
import type { Change, Command, SetUp, SideName, SideState } from './protocol.ts';

const FIRST: Readonly<Record<SideName, SetUp>> = {
  left: setUp('b'),
  right: setUp('h'),
};

export class Lab {
  readonly #database: Database;
  readonly #postgres: Postgres;
  readonly #sides: Readonly<Record<SideName, Pane>>;
  readonly #watchers = new Set<(change: Change) => void>();
  /** Each side runs one command at a time, so that no command sees another half done. */
  readonly #queues: Record<SideName, Promise<void>> = { left: Promise.resolve(), right: Promise.resolve() };
  readonly #pending = new Set<SideName>();

  private constructor(database: Database, postgres: Postgres) {
    this.#database = database;
    this.#postgres = postgres;
    const side = (name: SideName) => new Pane(database, postgres, FIRST[name], () => this.#announce(name));
    this.#sides = { left: side('left'), right: side('right') };
  }

  /** Starts a lab, without waiting for its processes. `postgres` is for the option that stores calls. */
  static async start(postgres = new Postgres()): Promise<Lab> {
    const lab = new Lab(new Database(), postgres);
    for (const name of ['left', 'right'] as const) lab.#queues[name] = lab.#sides[name].start();
    return lab;
  }

  /** Runs a command. A refusal is shown on its side. */
  async do(command: Command): Promise<void> {
    const side = this.#sides[command.side];
    const done = this.#queues[command.side].then(() => doTo(side, command));
    this.#queues[command.side] = done.catch((error: unknown) => {
      side.refuse(error instanceof Refused ? error.message : `That failed: ${String(error)}`);
    });
    await this.#queues[command.side];
  }

  /** Calls `watcher` with both sides now, and with each change, until the returned function is called. */
  watch(watcher: (change: Change) => void): () => void {
    this.#watchers.add(watcher);
    for (const side of ['left', 'right'] as const) watcher({ side, state: this.#sides[side].state });
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

  async close(): Promise<void> {
    await Promise.allSettled(Object.values(this.#queues));
    await Promise.all(Object.values(this.#sides).map((side) => side.close()));
    this.#database.close();
    await this.#postgres.stop();
  }

  /** Sends one change per turn, with the latest state. */
  #announce(side: SideName): void {
    if (this.#pending.has(side)) return;
    this.#pending.add(side);
    setImmediate(() => {
      this.#pending.delete(side);
      const change = { side, state: this.#sides[side].state };
      for (const watcher of this.#watchers) watcher(change);
    });
  }
}

const DOINGS: {
  readonly [Name in Command['do']]: (side: Pane, command: Command & { readonly do: Name }) => unknown;
} = {
  'set-up': (side, { setUp }) => side.setUp(setUp),
  call: (side) => side.call(),
  answer: (side, { question, reply }) => side.answer(question, reply),
  fault: (side, { fault }) => side.setFault(fault),
  kill: (side, { instance }) => side.kill(instance),
  restart: (side, { instance }) => side.restart(instance),
  deploy: (side, { change }) => side.deploy(change),
};

const doTo = async (side: Pane, command: Command): Promise<void> =>
  void (await (DOINGS[command.do] as (side: Pane, command: Command) => unknown)(side, command));
