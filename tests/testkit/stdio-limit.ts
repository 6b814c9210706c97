/** The limit of a line over stdio, as in docs/security.md; `operations/stdio.proof.ts` checks it. */
export const MAX_LINE_BYTES = 10_485_760;
