/** The receipt of an approval. */

/**
 * What an approval proves. `form`: the client chose this answer to these words. `typed-form`: it repeated a text as
 * well. `page`: a request with the session of the caller pressed a button on a page of the server. `verified-page`: and
 * passed the author's own check there.
 */
export type Rung = 'form' | 'typed-form' | 'page' | 'verified-page';

/** What was approved, by whose client, when, and how. Plain JSON. Store it with the effect. */
export interface Receipt {
  /** The same for the same approval, however often the handler reads it. */
  readonly id: string;
  /** The text that was sent to the client, or given to the page. Nobody knows what a client showed. */
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
