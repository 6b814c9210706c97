/** Whether a server's dependency answers. Checks at most once a second, for any number of load balancers. */
import { randomUUID } from 'node:crypto';
import { OperatorWarning } from '@mrtr/core/events';
import { type OptionCheck, waitAtMost } from '@mrtr/core/internal';
import type { StateLedger } from '@mrtr/core/seal';
import type { OnError } from './server-instance.ts';

/** A policy's ledger, or a function that rejects or returns false if the server cannot serve. */
export type ReadinessCheck = Pick<StateLedger, 'release'> | (() => unknown);

/** @internal */
export const aReadinessCheck: OptionCheck = {
  allowed: 'a ledger or a function',
  isAllowed: (value) =>
    typeof value === 'function' || typeof (value as Partial<StateLedger> | null)?.release === 'function',
};

const KEPT_MS = 1000;
const MAX_MS = 2000;
/** The limit of unanswered checks: they must not pile up on a ledger that hangs. */
const MAX_PENDING = 10;

/** Makes a function that checks, and caches each answer for a second. @internal */
export function makeReadiness(check: ReadinessCheck | undefined, report: OnError): () => Promise<boolean> {
  let kept: Promise<boolean> | undefined;
  let pending = 0;
  const query = async () => {
    pending++;
    try {
      if (typeof check === 'function') return await check();
      // Releasing a lease that does not exist queries the ledger, and changes nothing.
      return await check?.release(randomUUID(), randomUUID());
    } finally {
      pending--;
    }
  };
  /** Reports the reason to `onerror` only: anyone can read the answer. */
  const ask = async () => {
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
