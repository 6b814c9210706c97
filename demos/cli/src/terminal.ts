/** The streams of a command. */
import type { Readable, Writable } from 'node:stream';

/** `process`, or a replacement for it in tests. */
export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
  /** Ends the program when a person presses Ctrl-C. */
  exit(code: number): void;
}

export type Input = Readable & { readonly isTTY?: boolean };

export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
};

export type Environment = Readonly<Record<string, string | undefined>>;
