/** One line on stderr that says what a long command is doing. Only a person at a terminal sees it. */
import type { Output } from './terminal.ts';

/** The start of the line, and what clears the rest of it. */
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

  /** Takes the line away. */
  end(): void {
    if (this.#stderr.isTTY) this.#stderr.write(CLEAR);
  }
}
