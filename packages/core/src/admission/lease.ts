/**
 * Leases a token, so that it is served once. A *repeated retry*, which brings a used token again, is rejected or gets
 * the first result.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type LedgerEvent, publish } from '../diagnostics/events.ts';
import { OperatorWarning } from '../diagnostics/operator-warning.ts';
import type { Rejection, RejectionReason } from '../diagnostics/rejection-reasons.ts';
import { openAtRest, sealAtRest } from '../state/at-rest.ts';
import { CLOCK_SKEW_MS, type OpenedState } from '../state/codec.ts';
import type { KeyRing } from '../state/key-ring.ts';
import type { AdmittedCall } from './admitted-call.ts';
import type { LeaseDecision } from './ledger.ts';
import type { SingleUsePolicy } from './policy.ts';
import { waitAtMost } from './wait-at-most.ts';

/** One retry of a call, with its token. */
export interface PresentedRetry {
  readonly call: AdmittedCall;
  readonly opened: OpenedState;
  readonly singleUse: SingleUsePolicy;
  /** A digest of the answers that came with it. */
  readonly answers: string;
  /** The keys at the beginning: the first seals the outcome. */
  readonly ring: KeyRing;
}

/** The outcome of a served token, for the ledger. */
export type RecordedOutcome =
  | { readonly result: unknown }
  | { readonly error: readonly [code: number, message: string, data?: unknown] }
  /** The token was served, and its result was too large to record. */
  | { readonly tooLarge: true }
  /** The handler was entered and did not end properly, so its effects are unknown. */
  | { readonly lost: true };

/** The decision about a request: serve it, with a lease if its token needs one; repeat the recorded outcome; or reject it. */
export type Decision =
  | { readonly lease: Lease | undefined }
  | { readonly recorded: RecordedOutcome }
  | { readonly rejected: Rejection };

/**
 * Asks the ledger for the lease on the token. Waits while another retry with it is being served, if the policy
 * repeats results.
 *
 * @throws the ledger's error when it did not decide. It may name hosts, so it must not reach the client. Nothing has run;
 * a lease that comes later is released.
 */
export async function leaseToken(retry: PresentedRetry): Promise<Decision> {
  const { repeatedRetry } = retry.singleUse;
  let decision = await leaseOnce(retry);
  for (
    let wait = 5;
    decision.kind === 'in-flight' && repeatedRetry === 'replay';
    wait = Math.min(wait * 2, MAX_WAIT_MS)
  ) {
    if (!(await pause(wait, retry.call.facts.ctx.mcpReq.signal))) return rejectAs('hung_up');
    decision = await leaseOnce(retry);
  }
  switch (decision.kind) {
    case 'first':
      return { lease: new Lease(retry, decision.lease) };
    case 'settled':
      return repeatedRetry === 'reject'
        ? rejectAs('repeated', 'already_used')
        : decideRecorded(decision, retry);
    case 'lost':
      return repeatedRetry === 'reject' ? rejectAs('lost') : { recorded: { lost: true } };
    case 'in-flight':
      return rejectAs('repeated', 'in_flight');
    case 'expired':
      return rejectAs('expired');
    case 'older-than-ledger':
      return rejectAs('ledger', 'older_than_ledger');
    case 'clock-differs':
      return rejectAs('ledger', 'clock_differs');
    default: {
      // A ledger may be third-party code.
      const { kind } = decision as { readonly kind: unknown };
      throw new TypeError(`The ledger answered with the kind '${kind}', which does not exist.`);
    }
  }
}

function decideRecorded(
  { answers, result }: Extract<LeaseDecision, { kind: 'settled' }>,
  retry: PresentedRetry,
): Decision {
  if (answers !== retry.answers) return rejectAs('repeated', 'other_answers');
  const recorded = typeof result === 'string' ? openOutcome(result, retry) : undefined;
  // It does not open: it was moved from another token, or its key was removed.
  return recorded ? { recorded } : rejectAs('lost');
}

/** The decision to reject a request. */
export const rejectAs = (reason: RejectionReason, detail?: string): { readonly rejected: Rejection } => ({
  rejected: { reason, detail },
});

/** Waits. Returns false if the signal fired first. */
const pause = (ms: number, signal: AbortSignal) => delay(ms, true, { signal }).catch(() => false);

/** The longest wait between two requests to the ledger: every waiting retry keeps asking it. */
const MAX_WAIT_MS = 1000;

/** Asks the ledger once, for a limited time. The ledger of this process decides at once. */
async function leaseOnce(retry: PresentedRetry) {
  const { answers, call, singleUse } = retry;
  const { ledger } = singleUse;
  const { leaseSeconds, limits, now } = call.facts.policy;
  const { id, issuedAt, expiresAt } = retry.opened;
  const presented = { id, answers, issuedAt, expiresAt, leaseSeconds, pseudonym: call.pseudonym, now: now() };
  if ('isLocal' in ledger) return publishAnswered('lease', ledger.lease(presented));
  let isLate = false;
  const asked = ledger.lease(presented);
  void asked.then(
    (decision) => {
      if (isLate && decision?.kind === 'first') void new Lease(retry, decision.lease).release();
    },
    () => {},
  );
  const decision = await withinSeconds('lease', limits.ledgerSeconds, asked, () => {
    isLate = true;
  });
  if (decision.kind === 'clock-differs')
    call.report(new OperatorWarning('clock_differs', clocksDiffer(decision.byMs)));
  return decision;
}

const clocksDiffer = (byMs: number) =>
  `This server's clock differs from the ledger's by ${byMs} ms. Every retry is rejected until they agree to within ` +
  `${CLOCK_SKEW_MS / 1000} s. Synchronise both clocks.`;

function publishAnswered<T>(operation: LedgerEvent['operation'], answer: T) {
  publish('mrtr:ledger', { operation, outcome: 'answered', seconds: 0 });
  return answer;
}

async function withinSeconds<T>(
  operation: LedgerEvent['operation'],
  seconds: number,
  asked: Promise<T>,
  onLate = () => {},
) {
  const began = performance.now();
  let outcome: LedgerEvent['outcome'] = 'failed';
  const rejectLate = (): never => {
    onLate();
    const why = operation === 'lease' ? 'The retry was rejected and nothing of it ran. ' : '';
    throw new OperatorWarning(
      'ledger_timed_out',
      `The ledger did not answer within ${seconds} s. ${why}Check the ledger's database.`,
    );
  };
  try {
    const answer = await waitAtMost(asked, seconds * 1000, rejectLate);
    outcome = 'answered';
    return answer;
  } finally {
    publish('mrtr:ledger', { operation, outcome, seconds: (performance.now() - began) / 1000 });
  }
}

/**
 * The right to serve a token. Call `settle` or `release` once. Neither throws: if the ledger fails, the lease expires,
 * and a repeated retry gets the error that the outcome is unknown.
 */
export class Lease {
  readonly #retry: PresentedRetry;
  readonly #id: string;

  constructor(retry: PresentedRetry, id: string) {
    this.#retry = retry;
    this.#id = id;
  }

  /** Records the outcome. An outcome that is not JSON is recorded as lost. */
  settle(ended: () => RecordedOutcome): Promise<void> | void {
    const { call, opened, ring, singleUse } = this.#retry;
    const { ledger } = singleUse;
    let text: string;
    try {
      text = JSON.stringify(ended());
    } catch (error) {
      call.report(error);
      text = JSON.stringify({ lost: true } satisfies RecordedOutcome);
    }
    if (Buffer.byteLength(text) > call.facts.policy.limits.resultBytes)
      text = JSON.stringify({ tooLarge: true } satisfies RecordedOutcome);
    if ('isLocal' in ledger) return publishAnswered('settle', ledger.settle(opened.id, this.#id, text));
    // Sealed, because an outcome may be private, and others may read the ledger's database.
    const sealed = sealAtRest(text, `${opened.id} result`, ring).toString('base64url');
    return this.#end('settle', async () => ledger.settle(opened.id, this.#id, sealed));
  }

  /** Gives the lease back: the handler was not entered. */
  release(): Promise<void> | void {
    const { opened, singleUse } = this.#retry;
    const { ledger } = singleUse;
    if ('isLocal' in ledger) return publishAnswered('release', ledger.release(opened.id, this.#id));
    return this.#end('release', async () => ledger.release(opened.id, this.#id));
  }

  async #end(operation: LedgerEvent['operation'], write: () => Promise<void>) {
    const { call } = this.#retry;
    try {
      await withinSeconds(operation, call.facts.policy.limits.ledgerSeconds, write());
    } catch (error) {
      call.report(error);
    }
  }
}

/** Records an error's code, message and data: the parts that the SDK sends. */
export function recordError(error: object): Extract<RecordedOutcome, { error: unknown }> {
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  return {
    error: [
      Number.isSafeInteger(code) ? (code as number) : ProtocolErrorCode.InternalError,
      typeof message === 'string' ? message : 'Internal error',
      ...((data === undefined ? [] : [data]) as [unknown?]),
    ],
  };
}

function openOutcome(text: string, { opened: { id }, ring, singleUse }: PresentedRetry) {
  const isLocal = 'isLocal' in singleUse.ledger;
  const plain = isLocal ? text : openAtRest(Buffer.from(text, 'base64url'), `${id} result`, ring);
  return plain === undefined ? undefined : (JSON.parse(plain) as RecordedOutcome);
}
