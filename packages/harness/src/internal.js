// The entry `@mrtr/harness/internal`. It is JavaScript, so that what is published has no types: these are this project's
// own parts, which change without notice. TypeScript reads `internal.ts` beside it, in this workspace alone.
export * from './internal.ts';
