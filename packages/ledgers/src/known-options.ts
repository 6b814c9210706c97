/** Checks options at run time, for callers without types. */
import { InvalidPolicy } from '@mrtr/core';

/**
 * Checks that `options` has no other names than `names`.
 *
 * @param owner whose options they are, for the message.
 * @throws InvalidPolicy naming the first that is unknown, and the known ones.
 */
export function requireKnownOptions(owner: string, options: object, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    throw new InvalidPolicy(`${owner}: the options must be an object; they are ${options}.`);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new InvalidPolicy(`${owner}: '${unknown}' is not an option. The options are ${names.join(', ')}.`);
}
