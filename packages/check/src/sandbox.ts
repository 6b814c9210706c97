/**
 * Calls of the worker that touches what a server sent. They wait for its answer, and no longer than some seconds: a schema
 * that takes years to compile, or a token that takes all memory to take apart, ends the worker, and not the run.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { MessageChannel, receiveMessageOnPort, Worker, type WorkerOptions } from 'node:worker_threads';
import type { Tasks } from './worker.ts';

/** What a server sent could not be read within the limits of time and memory. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

const MAX_MS = 2000;
/** A busy machine is slow to start it, and gives it less time than passes: so long it is waited for at most. */
const PATIENCE_MS = 30_000;
/** So often the time that it was given is looked at. */
const SLICE_MS = 250;
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
const LIMITS = `${MAX_MS / 1000} s and ${MEMORY.maxOldGenerationSizeMb} MiB`;

const isSource = import.meta.url.endsWith('.ts');
const program = new URL(isSource ? './worker.ts' : './worker.js', import.meta.url);

/** Where Node does not strip types itself, tsx does: in a worker not as a loader, but as a function that requires. */
function startWorker(options: WorkerOptions): Worker {
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
    // It says so where its memory is full, and nobody hears that before the wait is over.
    this.#worker.on('error', () => {});
    this.ready = once(this.#worker, 'message');
    this.ready.catch(() => {}).finally(() => this.#worker.unref());
    port1.unref();
  }

  /** The answer, or undefined where it did not come in time. The worker is ended then. */
  ask(text: string): string | undefined {
    if (Atomics.load(this.#signal, 0) === 0) Atomics.wait(this.#signal, 0, 0, PATIENCE_MS);
    const answered = Atomics.load(this.#signal, 0);
    this.#worker.postMessage(text);
    const given = process.cpuUsage();
    const started = performance.now();
    // The worker raises the signal, and wakes afterwards: that of its last answer may end this wait too early.
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
/** The last call of each task. Several attempts in a row ask the same of the same state. */
const last = new Map<string, { readonly text: string; readonly answer: string }>();
/** What could not be read, as digests. A server may send it again, and nobody waits for it a second time. */
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

function ask(text: string): string {
  const digest = createHash('sha256').update(text).digest('base64');
  if (!unreadable.has(digest)) {
    sandbox ??= new Sandbox();
    const answer = sandbox.ask(text);
    if (answer !== undefined) return answer;
    // The next call does not wait for its start.
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

/** Starts the worker, while nobody waits for it: a program that stands still loses the connections that a server closes. */
export async function startSandbox(): Promise<void> {
  // Another run, perhaps on a machine that is less busy.
  unreadable.clear();
  sandbox ??= new Sandbox();
  await sandbox.ready;
}

/** What was read, or undefined where that was too much. */
export function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}
