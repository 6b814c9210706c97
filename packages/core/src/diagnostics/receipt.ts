/** The receipt of an approval. */

/**
 * The strength of an approval's proof. `form`: the client chose this answer to these words. `typed-form`: it also
 * repeated a text. `page`: a request in the caller's session pressed a button on a page of the server. `verified-page`:
 * it also passed the author's own check there.
 */
export type Rung = 'form' | 'typed-form' | 'page' | 'verified-page';

/** The record of an approval, as plain JSON. Store it with the effect. */
export interface Receipt {
  /** The same each time the handler reads this approval. */
  readonly id: string;
  /** The text that was sent to the client or the page. It does not prove what a client showed. */
  readonly words: string;
  /** SHA-256 of `words` in UTF-8, base64url. */
  readonly wordsDigest: string;
  readonly rung: Rung;
  /** The call's id. */
  readonly call: string;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly tool: string;
  /** SHA-256 of the canonical JSON (RFC 8785) of the arguments, base64url. */
  readonly argumentsDigest: string;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym?: string | undefined;
  /** In seconds since the epoch. */
  readonly askedAt: number;
  /** In seconds since the epoch. */
  readonly answeredAt: number;
}
