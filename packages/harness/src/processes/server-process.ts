/** Server processes of anybody, each in a process group, so that the children of a wrapper die with it. Their output is bounded. */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { grouped, isAlive, killGroup, startChild } from './child.ts';

/** Makes signals end the program, and with it every process that it started. */
export function endOnSignals(): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    process.once(signal, () => process.exit(code));
}

/** The longest delay between the broken pipe of a process and its exit event. */
const ENDING_MS = 250;

const MAX_OF_A_LINE = 4 * 1024 * 1024;
const OVERLONG = `killed, as a line of it was longer than ${MAX_OF_A_LINE / 1024 / 1024} MiB`;

export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #listeners: ((line: string) => void)[] = [];
  readonly ended: Promise<string>;
  #parts: string[] = [];
  #length = 0;
  isOverlong = false;
  #errors = '';
  #out = '';

  /** Starts the command in its own process group, with this program's environment and folder, or those of `where`. */
  constructor(command: string, args: readonly string[], where: Pick<SpawnOptions, 'cwd' | 'env'> = {}) {
    const options: SpawnOptions = { ...where, detached: grouped, stdio: 'pipe' };
    this.#child = startChild(command, args, options, () => this.killNow());
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = `${this.#errors}${text}`.slice(-8000);
    });
    this.ended = this.#end();
  }

  async #end(): Promise<string> {
    try {
      const [code, signal] = (await once(this.#child, 'exit')) as [number | null, string | null];
      return this.isOverlong ? OVERLONG : (signal ?? `exit code ${code}`);
    } catch (error) {
      return `it could not be started: ${(error as Error).message}`;
    } finally {
      // Kill its children. Close the pipes, because an escaped child would keep this program running through them.
      this.killNow();
      for (const pipe of this.#child.stdio) pipe?.destroy();
    }
  }

  onLine(listener: (line: string) => void): void {
    this.#listeners.push(listener);
  }

  get tail(): string {
    const written = `${this.#out}${this.#errors}`.trim();
    return written.length > 2000 ? `…${written.slice(-2000)}` : written;
  }

  get alive(): boolean {
    return isAlive(this.#child);
  }

  /** Writes to its standard input. Calls `unread` later if that is closed. */
  write(text: string, unread: () => void = () => {}): void {
    const { stdin } = this.#child;
    // Wait: the pipe of an ended process breaks before its exit event.
    const unreadLater = () => void setTimeout(unread, ENDING_MS);
    if (stdin?.writable) stdin.write(text, (error) => error && unreadLater());
    else unreadLater();
  }

  killNow(): void {
    killGroup(this.#child);
  }

  async kill(): Promise<void> {
    this.killNow();
    await this.ended;
  }

  #read(text: string): void {
    this.#out = `${this.#out}${text}`.slice(-8000);
    const [first = '', ...more] = text.split('\n');
    // Join the parts once at the end of a line: a long line comes in hundreds of parts.
    this.#parts.push(first);
    this.#length += first.length;
    const lines = more.length === 0 ? [] : [this.#parts.join(''), ...more];
    if (more.length > 0) {
      this.#parts = [lines.pop() ?? ''];
      this.#length = this.#parts[0]?.length ?? 0;
    }
    // A longer line would fill the memory.
    this.isOverlong ||= this.#length > MAX_OF_A_LINE;
    if (this.isOverlong) this.killNow();
    for (const line of lines) for (const listener of this.#listeners) listener(line);
  }
}
