/** Bounded waits, for handlers, ledgers and checks that may never settle. */

/**
 * Resolves with `work`, or after `ms` milliseconds with the result (or error) of `late`. A late `work` keeps running,
 * and its outcome is ignored.
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
