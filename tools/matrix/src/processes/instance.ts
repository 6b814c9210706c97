/** One instance of a deployment, as a process that can be killed. */
import type { Fetch } from '@mrtr/harness/internal';
import { RunningProcess } from '@mrtr/harness/process';
import type { Database } from './database.ts';
import type { InstanceAddress, InstanceMethods, Opening } from './messages.ts';
import { instanceProgram } from './program.ts';
import type { Rpc } from './rpc.ts';

/** Many instances may start at once on a busy machine. */
const PATIENCE_MS = 120_000;

export class InstanceProcess {
  readonly #process: RunningProcess;
  readonly #rpc: Rpc<InstanceMethods>;
  readonly onKill = new Set<() => void>();

  private constructor(process: RunningProcess, rpc: Rpc<InstanceMethods>) {
    this.#process = process;
    this.#rpc = rpc;
  }

  /** @throws Error with the process's output, if it ends or does not connect in time. */
  static async start(database: Database): Promise<InstanceProcess> {
    const process = new RunningProcess(instanceProgram, { ipc: true, patienceMs: PATIENCE_MS });
    try {
      return new InstanceProcess(process, await process.whileAlive(database.connect(process.child)));
    } catch (error) {
      await process.kill();
      throw error;
    }
  }

  get alive(): boolean {
    return this.#process.alive;
  }

  /** Serves a conversation. Returns the function that sends it a request. */
  async open(place: InstanceAddress, opening: Opening): Promise<Fetch> {
    const url = new URL(await this.#rpc.remote.open(place, opening));
    return (_address, init) => fetch(url, init);
  }

  async close(scope: string): Promise<void> {
    await this.#unlessGone(this.#rpc.remote.close(scope));
  }

  /** The frames that it holds for `scope`. Resolves after all its earlier reports have arrived. */
  async framesHeld(scope: string): Promise<number> {
    return (await this.#unlessGone(this.#rpc.remote.framesHeld(scope))) ?? 0;
  }

  /** Resolves with undefined if the process ends before it answers. */
  async #unlessGone<T>(answer: Promise<T>) {
    try {
      return await answer;
    } catch (error) {
      if (this.#rpc.ended()) return undefined;
      throw error;
    }
  }

  /** Sends SIGKILL. Resolves when it has ended and all its reports have arrived. */
  async kill(): Promise<void> {
    for (const listener of this.onKill) listener();
    await Promise.all([this.#process.kill(), this.#rpc.closed]);
  }

  /** Disconnects its database, which ends it. */
  stop(): Promise<void> {
    return this.#process.stop(() => this.#rpc.close());
  }
}
