/** What a command reads from and writes to. */
import type { Readable, Writable } from 'node:stream';

/** `process`, or in a test something that stands in for it. */
export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
  /** Ends the program, where a person wants out of it. */
  exit(code: number): void;
}

/** A stream that may come from a keyboard. */
export type Input = Readable & { readonly isTTY?: boolean };

/** A stream that may be a screen. */
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
};

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;
