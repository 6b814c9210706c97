/** The streams of a command. */
import type { Readable, Writable } from 'node:stream';
import { Writer } from '@mrtr/harness/internal';

export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Writer<Output>;
  readonly stderr: Writer<Output>;
  readonly env: Environment;
  /** Ends the program when a person presses Ctrl-C. */
  exit(code: number): void;
}

/** `process`, or a replacement for it in tests. */
export interface Streams extends Omit<Terminal, 'stdout' | 'stderr'> {
  readonly stdout: Output;
  readonly stderr: Output;
}

export const terminalOf = ({ stdin, stdout, stderr, env, exit }: Streams): Terminal => ({
  ...{ stdin, env, exit },
  stdout: new Writer(stdout),
  stderr: new Writer(stderr),
});

export type Input = Readable & { readonly isTTY?: boolean };

export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
};

export type Environment = Readonly<Record<string, string | undefined>>;
