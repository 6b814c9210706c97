/** Of a line over stdio, as docs/security.md gives it and `operations/stdio.proof.ts` holds. */
export const MAX_LINE_BYTES = 10_485_760;
