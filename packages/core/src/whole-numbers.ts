/** Checks options that are counts or seconds. */
import { InvalidPolicy } from './errors.ts';

/**
 * Checks that each of `values` is a whole number of at least `least`.
 *
 * @param owner whose options they are, for the message.
 * @throws InvalidPolicy naming the first that is not.
 */
export function requireWholeNumbers(
  owner: string,
  values: Readonly<Record<string, number>>,
  least = 1,
): void {
  for (const [name, value] of Object.entries(values)) {
    if (!Number.isInteger(value) || value < least)
      throw new InvalidPolicy(
        `${owner}: ${name} must be a whole number of at least ${least}; it is ${value}.`,
      );
  }
}
