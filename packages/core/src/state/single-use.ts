/** Serves a token once, and later presentations of it not at all, or with what the first one came to. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Binding } from './binding.ts';
import { CLOCK_SKEW_SECONDS, type Opened, openState, sealState } from './codec.ts';
import type { SealingKey } from './key-ring.ts';
import type { StateLedger } from './ledger.ts';

/** What a second presentation of a token gets: the frozen error, or the first one's result. */
export type SecondPresentation = 'reject' | 'replay';

/** How a policy makes state single-use. */
export interface SingleUsePolicy {
  readonly ledger: StateLedger;
  readonly second: SecondPresentation;
  /** How long one round may take to serve, in seconds, before its claim counts as lost. */
  readonly leaseSeconds: number;
}

/** One presentation of a token. */
export interface Presentation {
  readonly opened: Extract<Opened, { id: string }>;
  readonly binding: Binding;
  readonly ring: readonly SealingKey[];
  /** Seconds since the epoch. */
  readonly now: () => number;
  /** Ends the wait for a presentation that is being served elsewhere. */
  readonly signal: AbortSignal;
  /** Told when the first one was served and could not be recorded. */
  readonly onUnsettled: (error: unknown) => void;
}

/** Why a presentation was not served. For the log; on the wire it is the frozen error. */
export type UsedReason = 'already_used' | 'in_flight' | 'lost';

/** What serving came to. `replayed` tells a recorded result from a fresh one. */
export type ServedOnce =
  | { readonly result: unknown; readonly replayed: boolean }
  | { readonly rejected: UsedReason };

/** The ledger could not be asked. Its own error, the `cause`, may name hosts: it is not for the wire. */
export class LedgerFailed extends Error {}

type Recorded =
  | { readonly result: unknown }
  | { readonly error: readonly [ProtocolErrorCode, string, unknown?] };

/**
 * Claims the token and runs `serve`, or finds out that another presentation has.
 *
 * @throws whatever `serve` throws, and a recorded `ProtocolError` again.
 * @throws LedgerFailed when the ledger could not be asked; nothing has run.
 */
export async function serveOnce(
  { ledger, second, leaseSeconds }: SingleUsePolicy,
  presentation: Presentation,
  serve: () => Promise<unknown>,
): Promise<ServedOnce> {
  const { id, expiresAt } = presentation.opened;
  // Kept a little longer than the token lives: an instance whose clock is behind still takes it as alive.
  const claim = async () => {
    try {
      return await ledger.claim(id, expiresAt + CLOCK_SKEW_SECONDS, leaseSeconds);
    } catch (cause) {
      throw new LedgerFailed('The ledger did not take a claim.', { cause });
    }
  };
  let claimed = await claim();
  if (claimed.kind === 'first') {
    return { result: await served(ledger, presentation, serve), replayed: false };
  }
  if (second === 'reject') return { rejected: claimed.kind === 'in-flight' ? 'in_flight' : 'already_used' };
  for (let wait = 5; claimed.kind === 'in-flight'; wait = Math.min(wait * 2, 250)) {
    if (presentation.signal.aborted) return { rejected: 'in_flight' };
    await delay(wait);
    claimed = await claim();
  }
  if (claimed.kind !== 'settled') return { rejected: 'lost' };
  const recorded = opened(claimed.result, presentation);
  if (!recorded) return { rejected: 'lost' };
  if ('error' in recorded) throw new ProtocolError(...recorded.error);
  return { result: recorded.result, replayed: true };
}

async function served(
  ledger: StateLedger,
  presentation: Presentation,
  serve: () => Promise<unknown>,
): Promise<unknown> {
  const keep = async (recorded: Recorded) => {
    try {
      await ledger.settle(presentation.opened.id, sealed(recorded, presentation));
    } catch (error) {
      // The round is served, and its client shall have its answer; a later presentation finds the claim lost.
      presentation.onUnsettled(error);
    }
  };
  try {
    const result = await serve();
    await keep({ result });
    return result;
  } catch (error) {
    const { code, message, data } =
      error instanceof ProtocolError
        ? error
        : new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
    await keep({ error: [code, message, data] });
    throw error;
  }
}

// A result may be private, and a ledger is a database that others read: it is sealed like state, for the same call.
const sealed = (recorded: Recorded, { binding, ring, now, opened: token }: Presentation): string =>
  sealState(
    JSON.stringify(recorded),
    { binding, round: 0, issuedAt: now(), ttlSeconds: token.expiresAt - now() + CLOCK_SKEW_SECONDS },
    ring[0] as SealingKey,
  );

function opened(text: string, { binding, ring, now }: Presentation): Recorded | undefined {
  const token = openState(text, binding, now(), ring);
  return 'rejected' in token ? undefined : (JSON.parse(token.payload) as Recorded);
}
