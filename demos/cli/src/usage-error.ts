/** The command line cannot be understood. The message says what exists; the exit code is 2. */
export class UsageError extends Error {}

/** Of what `parseArgs` of Node threw, the first sentence: what it goes on to advise does not apply. */
export function whatIsWrong(error: unknown): string {
  const [what = ''] = (error as Error).message.split(/\. |\n/);
  return what.replace(/\.?$/, '.');
}
