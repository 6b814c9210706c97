import { type CallRow, NOBODY } from './call-table.ts';

/** How long a call has been without an owner that lives, as a request that waits for it sees it. */
export class Ownerless {
  readonly #takeOverMs: number;
  #since: number | undefined;

  constructor(takeOverMs: number) {
    this.#takeOverMs = takeOverMs;
  }

  /** Why another instance may take the call over: nothing of it runs, or its owner has given it up or has had its time. */
  async whyFree(
    { dead, instance }: CallRow,
    runs: () => Promise<boolean>,
  ): Promise<'nothing runs' | 'given up' | 'waited' | undefined> {
    if (instance === NOBODY) return 'given up';
    this.#since = dead ? (this.#since ?? performance.now()) : undefined;
    if (this.#since === undefined) return undefined;
    if (performance.now() - this.#since >= this.#takeOverMs) return 'waited';
    return (await runs()) ? undefined : 'nothing runs';
  }
}
