/** One line on stderr that shows what a long command is doing. Only a person at a terminal sees it. */
import type { Output } from './terminal.ts';

/** Moves to the start of the line, and clears it. */
const CLEAR = '\r\u001b[K';

export class Progress {
  readonly #stderr: Output;

  constructor(stderr: Output) {
    this.#stderr = stderr;
  }

  /** Replaces the line. */
  show(text: string): void {
    if (this.#stderr.isTTY) this.#stderr.write(`${CLEAR}${text}`);
  }

  /** Clears the line. */
  end(): void {
    if (this.#stderr.isTTY) this.#stderr.write(CLEAR);
  }
}
