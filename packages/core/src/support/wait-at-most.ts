/** Bounded waits: a handler, a ledger or a check that never settles must not hold what waits for it. */

/**
 * What `work` gives; after `ms` milliseconds, what `late` gives or throws. `work` goes on then, and nobody waits for it.
 *
 * @example const ready = await waitAtMost(check(), 2000, () => false);
 */
export async function waitAtMost<T, Late>(work: Promise<T>, ms: number, late: () => Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work, timeout.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
