/** Serves a token once. Later presentations are refused, or get the first one's result. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { openAtRest, sealAtRest } from './at-rest.ts';
import type { OpenedState } from './codec.ts';
import type { SealingKey } from './key-ring.ts';
import type { Claim, StateLedger } from './ledger.ts';

/** The answer to a second presentation of a token: the frozen error, or the first one's result. */
export type SecondPresentation = 'reject' | 'replay';

/** How a policy makes state single-use. */
export interface SingleUsePolicy {
  readonly ledger: StateLedger;
  readonly second: SecondPresentation;
  /** How long one round may take to serve, in seconds, before it counts as lost. */
  readonly leaseSeconds: number;
  /** How long the ledger may take to decide, in seconds. */
  readonly claimSeconds: number;
  /** Limit of a recorded result, in bytes. */
  readonly maxResultBytes: number;
}

/** One presentation of a token. */
export interface Presentation {
  readonly opened: OpenedState;
  /** A digest of the answers that came with it. */
  readonly answers: string;
  readonly principal: string | undefined;
  readonly ring: readonly SealingKey[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Ends the wait for another presentation that is being served. */
  readonly signal: AbortSignal;
  /** Gets errors that have no client: the result could not be recorded, or clocks differ. */
  readonly report: (error: unknown) => void;
}

/** Why a presentation was not served. For the log; the client gets the frozen error. */
export type UsedReason =
  | 'already_used'
  | 'other_answers'
  | 'in_flight'
  | 'lost'
  | 'expired'
  | 'abandoned'
  | 'older_than_ledger'
  | 'clock_differs';

/** How a presentation ended. `replayed` marks a recorded result. */
export type ServedOnce =
  | { readonly result: unknown; readonly replayed: boolean }
  /** It was served, and its result was too large to record. */
  | { readonly tooLarge: true }
  | { readonly rejected: UsedReason };

/** The ledger did not decide. The `cause` is its own error, which may name hosts and is not for the wire. */
export class LedgerFailed extends Error {}

type Recorded =
  | { readonly result: unknown }
  | { readonly error: readonly [code: number, message: string, data?: unknown] }
  | { readonly tooLarge: true };

/**
 * Asks the ledger for the lease on the token. Runs `serve` if it gets the lease; otherwise answers from the ledger's
 * record of the other presentation.
 *
 * @throws the error of `serve`, also a recorded one.
 * @throws LedgerFailed when the ledger did not decide; nothing has run.
 */
export async function serveOnce(
  policy: SingleUsePolicy,
  presentation: Presentation,
  serve: () => Promise<unknown>,
): Promise<ServedOnce> {
  let claim = await claimed(policy, presentation);
  if (claim.kind === 'first') {
    const stale = staleAfterClaim(presentation);
    if (stale) return { rejected: stale };
    return { result: await served(policy, presentation, claim.lease, serve), replayed: false };
  }
  if (policy.second === 'reject') return { rejected: REASONS[claim.kind] };
  for (let wait = 5; claim.kind === 'in-flight'; wait = Math.min(wait * 2, 250)) {
    if (presentation.signal.aborted) return { rejected: 'in_flight' };
    await delay(wait);
    claim = await claimed(policy, presentation);
  }
  if (claim.kind !== 'settled') return { rejected: REASONS[claim.kind] };
  if (claim.answers !== presentation.answers) return { rejected: 'other_answers' };
  const recorded = opened(claim.result, presentation);
  if (!recorded) return { rejected: 'lost' };
  if ('tooLarge' in recorded) return recorded;
  if ('error' in recorded)
    throw new ProtocolError(...(recorded.error as [ProtocolErrorCode, string, unknown?]));
  return { result: recorded.result, replayed: true };
}

const REASONS = {
  // A `first` while waiting means that the ledger forgot the entry, so the token has expired.
  first: 'expired',
  settled: 'already_used',
  'in-flight': 'in_flight',
  lost: 'lost',
  expired: 'expired',
  'older-than-ledger': 'older_than_ledger',
  'clock-differs': 'clock_differs',
} as const satisfies Record<Claim['kind'], UsedReason>;

/** Asks the ledger and waits for a limited time. A decision that comes later is ignored. */
async function claimed(policy: SingleUsePolicy, presentation: Presentation): Promise<Claim> {
  const { opened: token, answers, principal, now } = presentation;
  const { ledger, leaseSeconds, claimSeconds } = policy;
  const { id, issuedAt, expiresAt } = token;
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_resolve, reject) => {
      const error = new Error(`The ledger did not decide within ${claimSeconds} s.`);
      timer = setTimeout(reject, claimSeconds * 1000, error);
    });
    const asked = ledger.claim({ id, answers, issuedAt, expiresAt, leaseSeconds, principal, now: now() });
    const claim = await Promise.race([asked, late]);
    if (claim.kind === 'clock-differs') {
      presentation.report(new Error(`This server's clock differs from the ledger's by ${claim.byMs} ms.`));
    }
    return claim;
  } catch (cause) {
    throw new LedgerFailed('The ledger failed to decide about a token.', { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** The ledger may have taken long. Do not serve a token that expired meanwhile, or whose client has gone. */
function staleAfterClaim({ opened: { expiresAt }, now, signal }: Presentation): UsedReason | undefined {
  if (now() >= expiresAt) return 'expired';
  return signal.aborted ? 'abandoned' : undefined;
}

async function served(
  policy: SingleUsePolicy,
  presentation: Presentation,
  lease: string,
  serve: () => Promise<unknown>,
): Promise<unknown> {
  const record = async (recorded: Recorded) => {
    try {
      await policy.ledger.settle(
        presentation.opened.id,
        lease,
        sealed(recorded, presentation, policy.maxResultBytes),
      );
    } catch (error) {
      // The round was served, and its client gets its answer. A later presentation gets `lost`.
      presentation.report(error);
    }
  };
  try {
    const result = await serve();
    await record({ result });
    return result;
  } catch (error) {
    await record({ error: asOnTheWire(error) });
    throw error;
  }
}

/** The SDK sends an error's code, message and data where it has them, so exactly that is recorded. */
function asOnTheWire(error: unknown): Extract<Recorded, { error: unknown }>['error'] {
  const { code, message, data } = (error ?? {}) as { code?: unknown; message?: unknown; data?: unknown };
  return [
    Number.isSafeInteger(code) ? (code as number) : ProtocolErrorCode.InternalError,
    typeof message === 'string' ? message : 'Internal error',
    ...((data === undefined ? [] : [data]) as [unknown?]),
  ];
}

// A result may be private, and others may read the ledger's database.
function sealed(recorded: Recorded, { opened: { id }, ring }: Presentation, maxBytes: number): string {
  const text = JSON.stringify(recorded);
  const kept =
    Buffer.byteLength(text) <= maxBytes ? text : JSON.stringify({ tooLarge: true } satisfies Recorded);
  return sealAtRest(kept, `${id} result`, ring).toString('base64url');
}

function opened(text: string, { opened: { id }, ring }: Presentation): Recorded | undefined {
  const plain = openAtRest(Buffer.from(text, 'base64url'), `${id} result`, ring);
  return plain === undefined ? undefined : (JSON.parse(plain) as Recorded);
}
