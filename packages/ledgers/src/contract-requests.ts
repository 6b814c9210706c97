import type { LeaseRequest, StateLedger } from '@mrtr/core/seal';
import { expect } from 'vitest';

/** A request for a token that lives for a minute. */
export const leaseRequest = (id: string, of: Partial<LeaseRequest> = {}): LeaseRequest => ({
  id,
  answers: 'yes',
  issuedAt: Date.now(),
  expiresAt: Date.now() + 60_000,
  leaseSeconds: 30,
  pseudonym: undefined,
  now: Date.now(),
  ...of,
});

/** The decision about an unused token. */
export const FIRST = { kind: 'first', lease: expect.any(String) };

/** Leases a token, and returns the id of the lease. */
export async function takeLease(ledger: StateLedger, of: LeaseRequest) {
  const decision = await ledger.lease(of);
  if (decision.kind !== 'first') throw new Error(`The ledger gave no lease: ${decision.kind}.`);
  return decision.lease;
}
