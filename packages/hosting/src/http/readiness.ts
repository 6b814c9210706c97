/** Whether what a server depends on answers: asked at most once a second, however many load balancers want to know. */
import { randomUUID } from 'node:crypto';
import { OperatorWarning } from '@mrtr/core/events';
import { type OptionCheck, waitAtMost } from '@mrtr/core/kit';
import type { StateLedger } from '@mrtr/core/seal';
import type { OnError } from '../instance/server-instance.ts';

/** A policy's ledger; or a function that rejects, or gives false, where the server cannot serve. */
export type ReadinessCheck = Pick<StateLedger, 'release'> | (() => unknown);

export const aReadinessCheck: OptionCheck = {
  allowed: 'a ledger or a function',
  isAllowed: (value) =>
    typeof value === 'function' || typeof (value as Partial<StateLedger> | null)?.release === 'function',
};

const KEPT_MS = 1000;
const MAX_MS = 2000;
/** Checks that were never answered. A ledger that is stuck must not collect them. */
const MAX_PENDING = 10;

/** Asks, and keeps each answer for a second. */
export class Readiness {
  readonly #check: ReadinessCheck | undefined;
  readonly #report: OnError;
  #answer: Promise<boolean> | undefined;
  #pending = 0;

  constructor(check: ReadinessCheck | undefined, report: OnError) {
    this.#check = check;
    this.#report = report;
  }

  isReady(): Promise<boolean> {
    const forget = () => {
      this.#answer = undefined;
    };
    this.#answer ??= this.#ask().finally(() => setTimeout(forget, KEPT_MS).unref());
    return this.#answer;
  }

  /** The reason goes to `onerror` and not into the answer, which anybody can read. */
  async #ask(): Promise<boolean> {
    try {
      const answer = this.#pending < MAX_PENDING && (await waitAtMost(this.#query(), MAX_MS, () => false));
      const ready = answer !== false;
      if (!ready)
        this.#report(new OperatorWarning('not_ready', `Not ready: false, or no answer within ${MAX_MS} ms.`));
      return ready;
    } catch (error) {
      this.#report(error instanceof Error ? error : new OperatorWarning('not_ready', `Not ready: ${error}`));
      return false;
    }
  }

  async #query(): Promise<unknown> {
    this.#pending++;
    try {
      if (typeof this.#check === 'function') return await this.#check();
      // Gives back a lease that nobody has: the ledger has to look, and changes nothing.
      return await this.#check?.release(randomUUID(), randomUUID());
    } finally {
      this.#pending--;
    }
  }
}
