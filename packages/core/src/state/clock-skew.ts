/** How far two clocks of one deployment may differ, in milliseconds. */
export const CLOCK_SKEW_MS = 60_000;
