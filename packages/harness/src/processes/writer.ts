/** A program's output: a stranger's text in it cannot command the terminal. */
import { escapeLines } from '../transcript/hidden-characters.ts';

/** `process.stdout`, or its replacement in a test. */
export interface OutputStream {
  write(text: string, written?: () => void): unknown;
  readonly isTTY?: boolean | undefined;
  hasColors?(): boolean;
}

const ESCAPE = '\u001b';
/** Colours, and the sequence that clears the line. */
const PAINT = new RegExp(`(\\r${ESCAPE}\\[2K|${ESCAPE}\\[[\\d;]*m)`);

/** Writes to a stream, and escapes what a terminal obeys or does not show. See `escapeHidden`. */
export class Writer<Stream extends OutputStream = OutputStream> {
  /** For readline, which echoes what a person types. Write nothing to it. */
  readonly stream: Stream;

  /** @example new Writer(process.stdout).write(`${toolName}\n`); */
  constructor(stream: Stream) {
    this.stream = stream;
  }

  get isTTY(): boolean {
    return this.stream.isTTY === true;
  }

  hasColors(): boolean {
    return this.isTTY && this.stream.hasColors?.() === true;
  }

  /** Writes text with everything escaped but line breaks. Calls `written` when the stream has passed it on. */
  write(text: string, written?: () => void): void {
    this.stream.write(escapeLines(text), written);
  }

  /** Writes a drawing of ours: colours pass, and `\r\u001b[2K`, which clears a line. Escape a stranger's text in it first. */
  writePainted(text: string): void {
    const parts = text.split(PAINT);
    this.stream.write(parts.map((part, at) => (at % 2 === 1 ? part : escapeLines(part))).join(''));
  }
}
