/**
 * Runs code on untrusted input from the server in a worker, with limits of time and memory. A schema that takes years to
 * compile, or a token that fills the memory, ends the worker and not the run.
 */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Undecided } from './session/session.ts';
import type { Tasks } from './worker.ts';

/** Input from the server could not be read within the limits of time and memory. */
export class Unreadable extends Undecided {}

/** The limit of one task: a thousand times what an honest one takes, as the machine may be busy. */
const MAX_MS = 5000;
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
const LIMITS = `${MAX_MS / 1000} s and ${MEMORY.maxOldGenerationSizeMb} MiB`;

const isSource = import.meta.url.endsWith('.ts');
const program = new URL(isSource ? './worker.ts' : './worker.js', import.meta.url);

/** Starts the worker. From source, on a Node that does not strip types, tsx loads it: its loader does not reach workers. */
function startWorker() {
  const options = { resourceLimits: MEMORY, execArgv: [] };
  if (!isSource || (process.features as { typescript?: unknown }).typescript)
    return new Worker(program, options);
  const tsx = createRequire(import.meta.url).resolve('tsx/cjs/api');
  const [path, file] = [tsx, fileURLToPath(program)].map((one) => JSON.stringify(one));
  return new Worker(`require(${path}).require(${file}, ${file})`, { ...options, eval: true });
}

function openSandbox() {
  const worker = startWorker();
  // One that is given up may fill its memory before it ends.
  worker.on('error', () => {});
  const ready = once(worker, 'message').finally(() => worker.unref());
  return {
    ready,
    /** Returns the answer. If it does not come in time, or the memory is full, ends the worker and returns undefined. */
    async ask(text: string) {
      await ready;
      const answered = once(worker, 'message', { signal: AbortSignal.timeout(MAX_MS) });
      worker.postMessage(text);
      const [answer] = (await answered.catch(() => [])) as [string?];
      if (answer === undefined) void worker.terminate();
      return answer;
    },
  };
}

let sandbox: ReturnType<typeof openSandbox> | undefined;
/** One task at a time: the time of a task begins when the worker begins it. */
let turn: Promise<unknown> = Promise.resolve();
/** Answers by their task: each call asks the same forms, and attempts in a row alter the same state. */
const answers = new Map<string, string>();
/** The limit of all kept answers with their tasks, in characters. */
const MAX_KEPT = 16 * 1024 * 1024;
let room = MAX_KEPT;
/** Digests of unreadable input. A server may send it again; the run waits for it only once. */
const unreadable = new Set<string>();

/** Performs a task of the worker. @throws Unreadable */
export async function inWorker<Task extends keyof Tasks>(
  task: Task,
  ...args: Parameters<Tasks[Task]>
): Promise<ReturnType<Tasks[Task]>> {
  const text = JSON.stringify([task, args]);
  const answer = answers.get(text) ?? (await askInTurn(text));
  const { result, problem } = JSON.parse(answer);
  if (problem !== undefined) throw new Unreadable(`what the server sent cannot be read: ${problem}`);
  if (!answers.has(text)) keep(text, answer);
  return result;
}

function keep(text: string, answer: string) {
  const size = text.length + answer.length;
  if (size > room) {
    answers.clear();
    room = MAX_KEPT;
  }
  room -= size;
  answers.set(text, answer);
}

function askInTurn(text: string) {
  const asked = turn.then(() => ask(text));
  turn = asked.catch(() => {});
  return asked;
}

async function ask(text: string) {
  const digest = hash('sha256', text, 'base64');
  if (!unreadable.has(digest)) {
    sandbox ??= openSandbox();
    const answer = await sandbox.ask(text);
    if (answer) return answer;
    // Start the next worker now, so that the next call need not wait.
    sandbox = openSandbox();
    unreadable.add(digest);
  }
  throw new Unreadable(`what the server sent cannot be read within ${LIMITS}`);
}

/** Starts the worker ahead of use. */
export async function startSandbox() {
  // The machine may be less busy than in the last run.
  unreadable.clear();
  sandbox ??= openSandbox();
  await sandbox.ready;
}

/** Returns what is read, or undefined if the input is unreadable. */
export async function unlessUnreadable<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}
