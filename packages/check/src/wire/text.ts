/** The text, or its beginning where it is longer. The mark is where a secret may have been cut in two. */
export const shorten = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;
