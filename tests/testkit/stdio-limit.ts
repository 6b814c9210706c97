/** The limit of a line over stdio, as in docs/limits.md; `operations/stdio.proof.ts` checks it. */
export const MAX_LINE_BYTES = 10_485_760;
