/** Waiting in tests: for a promise, a condition, or an idle event loop, but never for a fixed time. */

/**
 * A promise that is settled by hand.
 *
 * @example
 * const held = new Deferred();
 * const tool = async () => { await held.promise; };
 * held.open();
 */
export class Deferred<T = void> {
  readonly promise: Promise<T>;
  open!: (value: T) => void;
  fail!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.open = resolve;
      this.fail = reject;
    });
  }
}

/** Runs everything that is ready, in some turns of the event loop. Works with faked timers. */
export async function settle(turns = 40): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Waits until `happened` returns true, for a bounded number of turns of the event loop.
 *
 * @param waitedFor the condition as text, for the error.
 * @throws Error with `waitedFor` if the condition did not become true.
 *
 * @example
 * await until(() => store.parked === 0, 'an empty store');
 */
export async function until(happened: () => boolean, waitedFor: string, turns = 20_000): Promise<void> {
  for (let turn = 0; !happened(); turn++) {
    if (turn === turns)
      throw new Error(`This did not happen in ${turns} turns of the event loop: ${waitedFor}.`);
    await settle(1);
  }
}

/**
 * Waits for a promise, for at most `ms` milliseconds.
 *
 * @throws Error with the text of `complaint` if it takes longer.
 */
export async function within<T>(ms: number, waited: Promise<T>, complaint: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(complaint())), ms);
  });
  try {
    return await Promise.race([waited, late]);
  } finally {
    clearTimeout(timer);
  }
}
