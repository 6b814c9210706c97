/** One instance of a deployment, as a process: started, told what to serve, and killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Database } from './database.ts';
import { DATABASE_VARIABLE, type InstanceMethods, type Opening } from './messages.ts';
import type { Peer } from './peer.ts';
import { instanceProgram } from './program.ts';

/** How long a process may take to start, and to end, in milliseconds: far more than it does on a busy machine. */
const PATIENCE = 30_000;

/** A running process. */
export class Instance {
  readonly #child: ChildProcess;
  readonly #peer: Peer<InstanceMethods>;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess, peer: Peer<InstanceMethods>, exited: Promise<unknown>) {
    this.#child = child;
    this.#peer = peer;
    this.#exited = exited;
  }

  /**
   * Starts one.
   *
   * @throws Error with what the process said, where it ends instead, or does not connect in time.
   */
  static async start(database: Database): Promise<Instance> {
    let address = '';
    const arrival = new Promise<Peer<InstanceMethods>>((resolve) => {
      address = database.expect(resolve);
    });
    const { command, args, env } = instanceProgram({ [DATABASE_VARIABLE]: address });
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exited = once(child, 'exit');
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-4000);
    });
    const ended = exited.then(() => Promise.reject(new Error(`The instance ended at its start: ${said}`)));
    try {
      const peer = await within(PATIENCE, Promise.race([arrival, ended]), 'The instance did not start');
      ended.catch(() => {});
      return new Instance(child, peer, exited);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  /** The process's id. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether it has not been stopped or killed, and has not died. */
  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Has it serve a subject; resolves with the address. */
  async open(opening: Opening): Promise<URL> {
    return new URL((await this.#peer.call('open', opening)) as string);
  }

  /** Stops serving `scope`. An instance that is gone serves nothing. */
  async close(scope: string): Promise<void> {
    await this.#ask('close', scope);
  }

  /** Frames that it holds for `scope`; and everything that it told before has arrived by then. */
  async framesHeld(scope: string): Promise<number> {
    return (await this.#ask('framesHeld', scope)) ?? 0;
  }

  /** Undefined where the process is gone, also where that is why there is no answer. */
  async #ask<Name extends 'close' | 'framesHeld'>(name: Name, scope: string) {
    try {
      return await this.#peer.call(name, scope);
    } catch (error) {
      if (this.#peer.ended) return undefined;
      throw error;
    }
  }

  /** SIGKILL. Resolves when it is gone and everything that it had told has arrived. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await Promise.all([this.#exited, this.#peer.closed]);
  }

  /** Takes its database away, upon which it has to end. */
  async stop(): Promise<void> {
    this.#peer.close();
    try {
      await within(PATIENCE, this.#exited, 'The instance did not end with its database');
    } catch (error) {
      this.#child.kill('SIGKILL');
      throw error;
    }
  }
}

async function within<T>(ms: number, waited: Promise<T>, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint} within ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([waited, late]);
  } finally {
    clearTimeout(timer);
  }
}
