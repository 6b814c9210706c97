/** Whether what a server depends on answers: asked at most once a second, however many load balancers want to know. */
import { randomUUID } from 'node:crypto';
import type { OptionCheck } from '@mrtr/core/kit';
import type { StateLedger } from '@mrtr/core/seal';
import type { OnError } from '../instance/server-instance.ts';

/** A policy's ledger, or a function that rejects, or gives false, where the server could not serve. */
export type ReadinessCheck = Pick<StateLedger, 'release'> | (() => unknown);

export const aReadinessCheck: OptionCheck = {
  allowed: 'a ledger or a function',
  isAllowed: (value) =>
    typeof value === 'function' || typeof (value as Partial<StateLedger> | null)?.release === 'function',
};

const KEPT_MS = 1000;
const MOST_MS = 2000;
/** Checks that neither succeeded nor failed. A ledger that is stuck must not collect them. */
const MOST_STUCK = 10;

/** Asks, and keeps each answer for a second. */
export class Readiness {
  readonly #check: ReadinessCheck | undefined;
  readonly #report: OnError;
  #answer: Promise<boolean> | undefined;
  #unsettled = 0;

  constructor(check: ReadinessCheck | undefined, report: OnError) {
    this.#check = check;
    this.#report = report;
  }

  isReady(): Promise<boolean> {
    this.#answer ??= this.#ask().finally(() => {
      setTimeout(() => {
        this.#answer = undefined;
      }, KEPT_MS).unref();
    });
    return this.#answer;
  }

  /** The reason goes to `onerror` and not into the answer, which anybody can read. */
  async #ask(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`Not ready: no answer within ${MOST_MS} ms.`)), MOST_MS);
    });
    try {
      if (this.#unsettled >= MOST_STUCK)
        throw new Error(`Not ready: ${MOST_STUCK} checks have not been answered at all.`);
      if ((await Promise.race([this.#query(), late])) !== false) return true;
      throw new Error('Not ready: the check gave false.');
    } catch (error) {
      this.#report(error instanceof Error ? error : new Error(`Not ready: ${error}`));
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  async #query(): Promise<unknown> {
    this.#unsettled++;
    try {
      if (typeof this.#check === 'function') return await this.#check();
      // Gives back a lease that nobody has: the ledger has to look, and changes nothing.
      return await this.#check?.release(randomUUID(), randomUUID());
    } finally {
      this.#unsettled--;
    }
  }
}
