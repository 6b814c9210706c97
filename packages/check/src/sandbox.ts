/**
 * Runs code on untrusted input from the server in a worker, with limits of time and memory. A schema that takes years to
 * compile, or a token that fills the memory, ends the worker and not the run.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { MessageChannel, receiveMessageOnPort, Worker, type WorkerOptions } from 'node:worker_threads';
import type { Tasks } from './worker.ts';

/** Input from the server could not be read within the limits of time and memory. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

const MAX_MS = 2000;
/** The longest wait, in wall-clock time. On a busy machine the worker starts late and gets little processor time. */
const PATIENCE_MS = 30_000;
/** The interval at which the processor time used is compared with its limit. */
const SLICE_MS = 250;
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
const LIMITS = `${MAX_MS / 1000} s and ${MEMORY.maxOldGenerationSizeMb} MiB`;

const isSource = import.meta.url.endsWith('.ts');
const program = new URL(isSource ? './worker.ts' : './worker.js', import.meta.url);

/** Starts the worker. From source, on a Node that does not strip types, tsx loads it: its loader does not reach workers. */
function startWorker(options: WorkerOptions) {
  if (!isSource || (process.features as { typescript?: unknown }).typescript)
    return new Worker(program, { ...options, execArgv: [] });
  const tsx = createRequire(import.meta.url).resolve('tsx/cjs/api');
  const [path, file] = [tsx, fileURLToPath(program)].map((one) => JSON.stringify(one));
  return new Worker(`require(${path}).require(${file}, ${file})`, { ...options, execArgv: [], eval: true });
}

class Sandbox {
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  readonly #replies = new MessageChannel();
  readonly #worker: Worker;
  readonly ready: Promise<unknown>;

  constructor() {
    const { port1, port2 } = this.#replies;
    const workerData = { replies: port2, signal: this.#signal };
    this.#worker = startWorker({ workerData, transferList: [port2], resourceLimits: MEMORY });
    // A full memory raises this error. `ask` sees the missing answer, and needs no more.
    this.#worker.on('error', () => {});
    this.ready = once(this.#worker, 'message');
    this.ready.catch(() => {}).finally(() => this.#worker.unref());
    port1.unref();
  }

  /** Returns the answer. If it does not come in time, ends the worker and returns undefined. */
  ask(text: string) {
    if (Atomics.load(this.#signal, 0) === 0) Atomics.wait(this.#signal, 0, 0, PATIENCE_MS);
    const answered = Atomics.load(this.#signal, 0);
    this.#worker.postMessage(text);
    const given = process.cpuUsage();
    const started = performance.now();
    // The worker first raises the signal, then wakes this thread: a late wake of the last answer may end the wait early.
    while (Atomics.load(this.#signal, 0) === answered) {
      const { user, system } = process.cpuUsage(given);
      if (user + system > MAX_MS * 1000 || performance.now() - started > PATIENCE_MS) break;
      Atomics.wait(this.#signal, 0, answered, SLICE_MS);
    }
    const answer = receiveMessageOnPort(this.#replies.port1)?.message as string | undefined;
    if (answer === undefined) {
      void this.#worker.terminate();
      this.#replies.port1.close();
    }
    return answer;
  }
}

let sandbox: Sandbox | undefined;
/** The last call of each task. Several attempts in a row repeat the same call. */
const last = new Map<string, { readonly text: string; readonly answer: string }>();
/** Digests of unreadable input. A server may send it again; the run waits for it only once. */
const unreadable = new Set<string>();

function call(task: string, args: readonly unknown[]): unknown {
  const text = JSON.stringify([task, args]);
  const known = last.get(task);
  const answer = known?.text === text ? known.answer : ask(text);
  const { result, problem } = JSON.parse(answer);
  if (problem !== undefined) throw new Unreadable(`what the server sent cannot be read: ${problem}`);
  last.set(task, { text, answer });
  return result;
}

function ask(text: string) {
  const digest = createHash('sha256').update(text).digest('base64');
  if (!unreadable.has(digest)) {
    sandbox ??= new Sandbox();
    const answer = sandbox.ask(text);
    if (answer !== undefined) return answer;
    // Start the next worker now, so that the next call need not wait.
    sandbox = new Sandbox();
    unreadable.add(digest);
  }
  throw new Unreadable(`what the server sent cannot be read within ${LIMITS}`);
}

/** The worker's functions. @throws Unreadable */
export const inWorker = new Proxy({} as Tasks, {
  get:
    (_, task: string) =>
    (...args: readonly unknown[]) =>
      call(task, args),
});

/** Starts the worker ahead of use. A call blocks the program, which then misses connections that the server closes. */
export async function startSandbox() {
  // The machine may be less busy than in the last run.
  unreadable.clear();
  sandbox ??= new Sandbox();
  await sandbox.ready;
}

/** Returns the result of `read`, or undefined if the input is unreadable. */
export function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}
