/** The command line cannot be understood. The message says what exists; the exit code is 2. */
export class UsageError extends Error {}
