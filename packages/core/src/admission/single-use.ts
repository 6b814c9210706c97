/**
 * Leases a token, so that it is served once. A *repeated retry*, which brings a used token again, is refused or gets
 * the first result.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type LedgerEvent, publish } from '../diagnostics/diagnostics.ts';
import { openAtRest, sealAtRest } from '../state/at-rest.ts';
import { CLOCK_SKEW_MS, type OpenedState } from '../state/codec.ts';
import type { KeyRing } from '../state/key-ring.ts';
import { OperatorWarning } from '../support/operator-warning.ts';
import type { RejectionReason } from '../support/rejection-reasons.ts';
import { waitAtMost } from '../support/wait-at-most.ts';
import type { LeaseDecision, StateLedger } from './ledger.ts';

/** The response to a repeated retry: `reject` refuses it, `replay` repeats the first result. */
export type RepeatedRetry = 'reject' | 'replay';

/** A policy's settings for single use. */
export interface SingleUsePolicy {
  readonly ledger: StateLedger;
  readonly repeatedRetry: RepeatedRetry;
  /** The time to serve one round, in seconds; after that its outcome counts as lost. */
  readonly leaseSeconds: number;
  /** The ledger's time to answer, in seconds. */
  readonly ledgerTimeoutSeconds: number;
  /** Limit of a recorded result, in bytes. */
  readonly maxResultBytes: number;
}

/** One retry of a call, with its token. */
export interface PresentedRetry {
  readonly opened: OpenedState;
  /** A digest of the answers that came with it. */
  readonly answers: string;
  readonly pseudonym: string | undefined;
  readonly ring: KeyRing;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Ends the wait for another retry with the same token. */
  readonly signal: AbortSignal;
  /** Gets errors for the operator: the ledger failed to record, or the clocks differ. */
  readonly report: (error: unknown) => void;
}

/** The reason why a retry was not served. Only for the log: the client gets the same error for every reason. */
export type NotServedReason = Extract<
  RejectionReason,
  | 'already_used'
  | 'other_answers'
  | 'in_flight'
  | 'lost'
  | 'expired'
  | 'abandoned'
  | 'older_than_ledger'
  | 'clock_differs'
>;

/** The outcome of a served token, for the ledger. */
export type RecordedOutcome =
  | { readonly result: unknown }
  | { readonly error: readonly [code: number, message: string, data?: unknown] }
  /** The token was served, and its result was too large to record. */
  | { readonly tooLarge: true }
  /** The handler was entered and did not end properly, so its effects are unknown. */
  | { readonly lost: true };

/** The ledger's decision: serve the token, repeat its recorded outcome, or refuse it. */
export type Decision =
  | { readonly lease: Lease }
  | { readonly recorded: RecordedOutcome }
  | { readonly refused: NotServedReason };

/** The ledger did not decide. The `cause` is the ledger's error; it may name hosts, so it must not reach the client. */
export class LedgerFailed extends Error {}

/**
 * Asks the ledger for the lease on the token. Waits while another retry with it is being served, if the policy
 * repeats results.
 *
 * @throws LedgerFailed when the ledger did not decide. Nothing has run; a lease that comes later is released.
 */
export async function leaseToken(policy: SingleUsePolicy, retry: PresentedRetry): Promise<Decision> {
  let decision = await leaseOnce(policy, retry);
  for (
    let wait = 5;
    decision.kind === 'in-flight' && policy.repeatedRetry === 'replay';
    wait = Math.min(wait * 2, MAX_WAIT_MS)
  ) {
    if (!(await pause(wait, retry.signal))) return { refused: 'abandoned' };
    decision = await leaseOnce(policy, retry);
  }
  switch (decision.kind) {
    case 'first':
      return { lease: new Lease(policy, retry, decision.lease) };
    case 'settled':
      return policy.repeatedRetry === 'reject'
        ? { refused: 'already_used' }
        : decideRecorded(decision, retry);
    case 'lost':
      return policy.repeatedRetry === 'reject' ? { refused: 'lost' } : { recorded: { lost: true } };
    default:
      return { refused: reasonOf(decision.kind) };
  }
}

const REASONS = {
  'in-flight': 'in_flight',
  expired: 'expired',
  'older-than-ledger': 'older_than_ledger',
  'clock-differs': 'clock_differs',
} as const satisfies Partial<Record<LeaseDecision['kind'], NotServedReason>>;

/** Maps a ledger's decision to a reason. Checks it, because ledgers may be third-party code. */
function reasonOf(kind: keyof typeof REASONS): NotServedReason {
  if (Object.hasOwn(REASONS, kind)) return REASONS[kind];
  throw new LedgerFailed('The ledger failed to decide about a token.', {
    cause: new TypeError(`The ledger answered with the kind '${kind}', which does not exist.`),
  });
}

function decideRecorded(
  { answers, result }: Extract<LeaseDecision, { kind: 'settled' }>,
  retry: PresentedRetry,
): Decision {
  if (answers !== retry.answers) return { refused: 'other_answers' };
  const recorded = typeof result === 'string' ? openOutcome(result, retry) : undefined;
  // It does not open: it was moved from another token, or its key was removed.
  return recorded ? { recorded } : { refused: 'lost' };
}

/** Waits. Returns false if the signal fired first. */
const pause = (ms: number, signal: AbortSignal): Promise<boolean> =>
  delay(ms, true, { signal }).catch(() => false);

/** The longest wait between two requests to the ledger: every waiting retry keeps asking it. */
const MAX_WAIT_MS = 1000;

/** Asks the ledger once, for a limited time. */
async function leaseOnce(policy: SingleUsePolicy, retry: PresentedRetry): Promise<LeaseDecision> {
  const { opened, answers, pseudonym, now, report } = retry;
  const { ledger, leaseSeconds, ledgerTimeoutSeconds } = policy;
  const { id, issuedAt, expiresAt } = opened;
  let isLate = false;
  try {
    const asked = ledger.lease({ id, answers, issuedAt, expiresAt, leaseSeconds, pseudonym, now: now() });
    void asked.then(
      (decision) => {
        if (isLate && decision?.kind === 'first') void new Lease(policy, retry, decision.lease).release();
      },
      () => {},
    );
    const decision = await withinSeconds('lease', ledgerTimeoutSeconds, asked, () => {
      isLate = true;
    });
    if (decision.kind === 'clock-differs')
      report(new OperatorWarning('clock_differs', clocksDiffer(decision.byMs)));
    return decision;
  } catch (cause) {
    throw new LedgerFailed('The ledger failed to decide about a token.', { cause });
  }
}

const clocksDiffer = (byMs: number): string =>
  `This server's clock differs from the ledger's by ${byMs} ms. Every retry is refused until they agree to within ` +
  `${CLOCK_SKEW_MS / 1000} s. Synchronise both clocks.`;

async function withinSeconds<T>(
  operation: LedgerEvent['operation'],
  seconds: number,
  asked: Promise<T>,
  onLate = () => {},
): Promise<T> {
  const began = performance.now();
  let outcome: LedgerEvent['outcome'] = 'failed';
  const refuse = (): never => {
    onLate();
    const why = operation === 'lease' ? 'The retry was refused and nothing of it ran. ' : '';
    const todo = "Check the ledger's database, or raise ledgerTimeoutSeconds.";
    throw new OperatorWarning(
      'ledger_timed_out',
      `The ledger did not answer within ${seconds} s. ${why}${todo}`,
    );
  };
  try {
    const answer = await waitAtMost(asked, seconds * 1000, refuse);
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
  readonly #policy: SingleUsePolicy;
  readonly #retry: PresentedRetry;
  readonly #id: string;

  constructor(policy: SingleUsePolicy, retry: PresentedRetry, id: string) {
    this.#policy = policy;
    this.#retry = retry;
    this.#id = id;
  }

  /** Records the outcome. An outcome that is not JSON is recorded as lost. */
  settle(ended: () => RecordedOutcome): Promise<void> {
    const { ledger, maxResultBytes } = this.#policy;
    const { opened } = this.#retry;
    let text: string;
    try {
      text = JSON.stringify(ended());
    } catch (error) {
      this.#retry.report(error);
      text = JSON.stringify({ lost: true } satisfies RecordedOutcome);
    }
    const sealed = sealOutcome(text, this.#retry, maxResultBytes);
    return this.#end('settle', async () => ledger.settle(opened.id, this.#id, sealed));
  }

  /** Gives the lease back: the handler was not entered. */
  release(): Promise<void> {
    return this.#end('release', async () => this.#policy.ledger.release(this.#retry.opened.id, this.#id));
  }

  async #end(operation: LedgerEvent['operation'], write: () => Promise<void>): Promise<void> {
    try {
      await withinSeconds(operation, this.#policy.ledgerTimeoutSeconds, write());
    } catch (error) {
      this.#retry.report(error);
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

// Seals an outcome: it may be private, and others may read the ledger's database.
function sealOutcome(text: string, { opened: { id }, ring }: PresentedRetry, maxBytes: number): string {
  const kept =
    Buffer.byteLength(text) <= maxBytes ? text : JSON.stringify({ tooLarge: true } satisfies RecordedOutcome);
  return sealAtRest(kept, `${id} result`, ring).toString('base64url');
}

function openOutcome(text: string, { opened: { id }, ring }: PresentedRetry): RecordedOutcome | undefined {
  const plain = openAtRest(Buffer.from(text, 'base64url'), `${id} result`, ring);
  return plain === undefined ? undefined : (JSON.parse(plain) as RecordedOutcome);
}
