/** The streams and files of the program. */
export interface Console {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
  /** The source of answers to `--init`, which asks only on a terminal. */
  readonly in?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** The folder of the built viewer that draws the conversations in HTML reports. */
  readonly viewer?: URL;
}
