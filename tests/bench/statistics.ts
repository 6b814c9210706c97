/** Statistics of a list of numbers. */

/** Median and quartiles. */
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

/** Median and quartiles. Unlike a mean, they hardly change when the machine stalls. */
export const spreadOf = (values: readonly number[]): Spread => ({
  median: quantile(values, 0.5),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});

/** How much two measurements of the same contestant differ, as a share. A real difference has to exceed it. */
export const noiseOf = ({ low, high }: Spread): number => Math.max(Math.abs(low - 1), Math.abs(high - 1));
