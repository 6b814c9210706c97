/** The prefix of the keys of a store on Redis. */
import { InvalidPolicy } from '@mrtr/core';

/**
 * Returns `prefix`.
 *
 * @throws InvalidPolicy when it is no text, or empty: the keys could be those of others.
 */
export function keyPrefix(owner: string, prefix: unknown): string {
  if (typeof prefix === 'string' && prefix !== '') return prefix;
  throw new InvalidPolicy(
    `${owner}: prefix must be a text that is not empty; it is ${JSON.stringify(prefix)}.`,
  );
}
