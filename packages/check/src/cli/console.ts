/** The streams and files of the program. */
import { Writer } from '@mrtr/harness/internal';

export interface Console {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
  /** The source of answers to `--init`, which asks only on a terminal. */
  readonly in?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** The folder of the built viewer that draws the conversations in HTML reports. */
  readonly viewer?: URL;
}

/** The program's own output. @internal */
export interface Output extends Omit<Console, 'out' | 'err'> {
  readonly out: Writer;
  readonly err: Writer;
}

/** @internal */
export const outputOn = ({ out, err, ...rest }: Console): Output => ({
  ...rest,
  out: new Writer(out),
  err: new Writer(err),
});
