/** Runs a program as a process of its own. Every wait is bounded, and no process outlives this one. */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { finished } from 'node:stream/promises';
import { isAlive, startChild } from './child.ts';
import { Deferred, within } from './waiting.ts';

/** A command line, and what goes into its environment. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export interface ProcessOptions {
  readonly cwd?: string | undefined;
  /** Opens a channel for messages, as `fork` does. */
  readonly ipc?: boolean;
  /** How long it may take to start, to answer, and to stop, in milliseconds. Default 30 000. */
  readonly patienceMs?: number;
}

/** The complete output of a process. */
export interface ProcessOutput {
  readonly out: string;
  readonly err: string;
}

/** A process, running or ended. */
export class RunningProcess {
  readonly child: ChildProcess;
  /** Resolves with the exit code or the signal's name, when it has ended and its output has been read. */
  readonly ended: Promise<number | NodeJS.Signals>;
  #output = { out: '', err: '' };
  /** Called after each new output. */
  readonly #readers = new Set<() => void>();
  readonly #name: string;
  readonly #patienceMs: number;

  /**
   * Starts a process, which inherits this process's environment.
   *
   * @example
   * const server = new RunningProcess({ command: process.execPath, args: ['server.mjs'] });
   * const url = await server.until(({ err }) => /at (http:\S+)/.exec(err)?.[1]);
   */
  constructor(
    { command, args, env }: Program,
    { cwd, ipc = false, patienceMs = 30_000 }: ProcessOptions = {},
  ) {
    this.child = startChild(
      command,
      args,
      {
        cwd,
        env: { ...process.env, ...env },
        stdio: ['pipe', 'pipe', 'pipe', ...(ipc ? ['ipc' as const] : [])],
      },
      () => this.child.kill('SIGKILL'),
    );
    this.#name = `${command} ${args.join(' ')}`;
    this.#patienceMs = patienceMs;
    for (const [stream, name] of [
      [this.child.stdout, 'out'],
      [this.child.stderr, 'err'],
    ] as const) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = { ...this.#output, [name]: this.#output[name] + text };
        for (const look of this.#readers) look();
      });
    }
    this.ended = this.#end();
    // `ended` rejects for a program that cannot be started. Without a handler, the rejection would end this process.
    this.ended.catch(() => {});
  }

  // Not 'close': that does not come when we have closed the channel for messages ourselves.
  async #end(): Promise<number | NodeJS.Signals> {
    const read = [this.child.stdout, this.child.stderr].map(
      (stream) => stream && finished(stream).catch(() => {}),
    );
    const [code, signal] = await once(this.child, 'exit');
    await Promise.all(read);
    return code ?? signal;
  }

  /** The output so far. */
  get output(): ProcessOutput {
    return this.#output;
  }

  get alive(): boolean {
    return isAlive(this.child);
  }

  /**
   * Calls `find` with each new output, and resolves with its first defined value.
   *
   * @throws Error with the output, if the process ends first or takes too long.
   */
  async until<T>(find: (said: ProcessOutput) => T | undefined): Promise<T> {
    const found = new Deferred<T>();
    const look = () => {
      const it = find(this.#output);
      if (it !== undefined) found.open(it);
    };
    look();
    this.#readers.add(look);
    try {
      return await this.whileAlive(found.promise);
    } finally {
      this.#readers.delete(look);
    }
  }

  /** Resolves with the next message on its channel. Throws as {@link until} does. */
  async message<T>(): Promise<T> {
    const [message] = await this.whileAlive(once(this.child, 'message'));
    return message as T;
  }

  /** Waits for `waited`. Throws as {@link until} does. */
  async whileAlive<T>(waited: Promise<T>): Promise<T> {
    const ended = this.ended.then((code) =>
      Promise.reject(new Error(`${this.#name} ended with ${code}, and wrote: ${this.#tail}`)),
    );
    return within(
      this.#patienceMs,
      Promise.race([waited, ended]),
      () => `${this.#name} was not ready in ${this.#patienceMs} ms, and wrote: ${this.#tail}`,
    );
  }

  /** Sends SIGKILL. Resolves when the process has ended. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /**
   * Asks the process to end, by default with SIGTERM, and waits for its end.
   *
   * @throws Error if it takes too long, after killing it.
   */
  async stop(
    ask: () => unknown = () => this.child.kill('SIGTERM'),
    patienceMs = this.#patienceMs,
  ): Promise<void> {
    if (this.alive) ask();
    try {
      const complaint = () => `${this.#name} did not end in ${patienceMs} ms, and was killed.`;
      await within(patienceMs, this.ended, complaint);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  get #tail() {
    return `${this.#output.out}${this.#output.err}`.slice(-4000);
  }
}

/** Below the ports of outgoing connections, which could take a port before a server listens there. */
const SERVER_PORTS = [20_000, 32_768] as const;
const MAX_TRIES = 100;

/** A TCP port of 127.0.0.1 that is free now. Another program may take it before it is used. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = randomInt(...SERVER_PORTS);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
