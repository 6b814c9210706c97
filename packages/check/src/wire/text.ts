/** Cuts a text to `most` characters. The mark shows `redact.ts` where a secret may be cut in two. */
export const shorten = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most)}…` : text;
