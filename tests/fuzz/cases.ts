/** How many cases are tried, and from which seed. */
import fc, { type IAsyncProperty, type IProperty } from 'fast-check';

/** By default the cases are the same every time. */
const SEED = fromEnvironment('MRTR_FUZZ_SEED', 20260728);
/** For each property of each option. CI asks for 1000. */
export const CASES = fromEnvironment('MRTR_FUZZ_CASES', 40);

/** The part of a test's name that describes its cases. With the seed, they can be repeated. */
export const told = (cases: number): string => `(${cases} cases, MRTR_FUZZ_SEED=${SEED})`;

/** Tries `property`; the error shows the smallest failing case. */
export async function holds<T>(property: IProperty<T> | IAsyncProperty<T>, cases: number): Promise<void> {
  const untouched = Reflect.ownKeys(Object.prototype);
  await fc.assert(property, { seed: SEED, numRuns: cases });
  const added = Reflect.ownKeys(Object.prototype).filter((key) => !untouched.includes(key));
  if (added.length > 0) throw new Error(`Object.prototype has new members: ${added.map(String).join(', ')}.`);
}

/** The number of the first case, of `cases`, for which `property` does not hold; undefined if it holds for all. */
export async function firstFailure<T>(
  property: IProperty<T> | IAsyncProperty<T>,
  cases: number,
): Promise<number | undefined> {
  const { failed, numRuns } = await fc.check(property, { seed: SEED, numRuns: cases, endOnFailure: true });
  return failed ? numRuns : undefined;
}

function fromEnvironment(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined) return otherwise;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${name} has to be a whole number of at least 1; it is '${text}'.`);
}
