/** Where the program writes, and what it reads. */
export interface Console {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
  /** Where `--init` reads what it asks for. Without a terminal it asks nothing. */
  readonly in?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** The folder of the built viewer, which draws the conversations of HTML reports. */
  readonly viewer?: URL;
}
