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

/** Makes what asks, and keeps each answer for a second. */
export function readinessOf(check: ReadinessCheck | undefined, report: OnError): () => Promise<boolean> {
  let kept: Promise<boolean> | undefined;
  let pending = 0;
  const query = async (): Promise<unknown> => {
    pending++;
    try {
      if (typeof check === 'function') return await check();
      // Gives back a lease that nobody has: the ledger has to look, and changes nothing.
      return await check?.release(randomUUID(), randomUUID());
    } finally {
      pending--;
    }
  };
  /** The reason goes to `onerror` and not into the answer, which anybody can read. */
  const ask = async (): Promise<boolean> => {
    try {
      const answer = pending < MAX_PENDING && (await waitAtMost(query(), MAX_MS, () => false));
      if (answer !== false) return true;
      report(new OperatorWarning('not_ready', `Not ready: false, or no answer within ${MAX_MS} ms.`));
    } catch (error) {
      report(error instanceof Error ? error : new OperatorWarning('not_ready', `Not ready: ${error}`));
    }
    return false;
  };
  const forget = () => {
    kept = undefined;
  };
  return () => {
    kept ??= ask().finally(() => setTimeout(forget, KEPT_MS).unref());
    return kept;
  };
}
