/** The few numbers that say what a list of numbers is like. */

/** A middle value, and the quarters to both sides of it. */
export interface Spread {
  readonly median: number;
  /** A quarter of the values is below. */
  readonly low: number;
  /** A quarter of the values is above. */
  readonly high: number;
}

/** The value below which `share` of the values are. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [below = Number.NaN, above = below] = sorted.slice(Math.floor(at), Math.floor(at) + 2);
  return below + (above - below) * (at - Math.floor(at));
}

/** Median and quartiles: a stall of the machine moves neither, as it would move a mean. */
export const spreadOf = (values: readonly number[]): Spread => ({
  median: quantile(values, 0.5),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});

/** How far apart two measurements of the same thing came out, as a share: what a difference has to exceed. */
export const noiseOf = ({ low, high }: Spread): number => Math.max(Math.abs(low - 1), Math.abs(high - 1));
