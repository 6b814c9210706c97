/** The limits of a mount that an operator sets. Other limits are constants, beside the code that holds them. */
import { InvalidOption } from '@mrtr/core';
import { limitsOf, ownLimit, wholeNumber } from '@mrtr/core/internal';

/** Limits of what clients make a mount hold. Other limits are fixed: a body has 30 seconds, a session may idle for an hour. */
export interface MountLimits {
  /**
   * Bytes of the requests that are served at once, and as many again of bodies that are arriving, and of messages in
   * streams that wait to be read. A served request takes its body and 64 KiB. Default 128 MiB: 2048 small requests.
   * Their number has a limit of its own, `limits.requests` of the policy. A cancelled one takes nothing here.
   */
  readonly bytes?: number | undefined;
  /** Bytes of one body. Default 1 MiB. It may have 10 000 members of objects and arrays for each MiB. */
  readonly bodyBytes?: number | undefined;
  /** Sessions of old clients. Default 1000. */
  readonly sessions?: number | undefined;
  /** Subscriptions of new clients. Default 1024. 0 turns them off. */
  readonly subscriptions?: number | undefined;
  /**
   * The share of these, except `bodyBytes`, that one principal may take, above 0 and at most 1. Default 1/16. Anonymous
   * callers share all of them. A gateway whose requests all have one principal sets 1.
   */
  readonly perPrincipal?: number | undefined;
}

/** The limits with their defaults. @internal */
export type Limits = Readonly<typeof MOUNT_LIMITS>;

/** @internal */
export const MOUNT_LIMITS = {
  bytes: 134_217_728,
  bodyBytes: 1_048_576,
  sessions: 1000,
  subscriptions: 1024,
  perPrincipal: 1 / 16,
};

/** The memory of a small request with its server, its transport and its connection, as measured on Node 20. @internal */
export const REQUEST_BYTES = 65_536;

/**
 * Checks limits and adds the defaults.
 *
 * @throws InvalidOption naming the first wrong limit, or if one principal could never send its largest request.
 * @internal
 */
export function mountLimits(owner: string, given: MountLimits | undefined): Limits {
  const limits = limitsOf(owner, given, MOUNT_LIMITS, { subscriptions: wholeNumber(0) });
  const { bytes, bodyBytes, perPrincipal } = limits;
  if (ownLimit(bytes, perPrincipal) >= bodyBytes + REQUEST_BYTES) return limits;
  throw new InvalidOption(
    `${owner} limits: one principal may take perPrincipal * bytes = ${bytes * perPrincipal}. That has no room for a request ` +
      `of bodyBytes + ${REQUEST_BYTES}. Raise bytes or perPrincipal, or lower bodyBytes.`,
  );
}

const BYTES = 'Write `limits: { bytes }`.';
const SHARE = 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/16.';
const REQUESTS = 'The policy counts requests: write `limits: { requests }` in requestStatePolicy.';
const SHARE_OF_REQUESTS =
  'The policy counts requests: write `limits: { perPrincipal }` in requestStatePolicy.';

/** The options of earlier versions, each with what to write now. @internal */
export const GONE_OPTIONS = {
  maxBodyBytes: 'Write `limits: { bodyBytes }`.',
  maxBodyMembers: 'Write `limits: { bodyBytes }`: a body may have 10 000 members for each MiB.',
  bodySeconds: 'It is fixed: 30 seconds.',
  maxIncomingBytes: BYTES,
  maxIncomingBytesPerPrincipal: SHARE,
  maxRequests: REQUESTS,
  maxRequestsPerPrincipal: SHARE_OF_REQUESTS,
  maxCallBytes: BYTES,
  maxCallBytesPerPrincipal: SHARE,
  maxAbandoned: REQUESTS,
  maxAbandonedPerPrincipal: SHARE_OF_REQUESTS,
  maxSubscriptions: 'Write `limits: { subscriptions }`.',
  maxSubscriptionsPerPrincipal: SHARE,
  maxSessions: 'Write `limits: { sessions }`.',
  maxSessionsPerPrincipal: SHARE,
  maxSessionBytes: 'Write `limits: { sessions }`: each keeps at most 16 KiB.',
  maxSessionBytesPerPrincipal: SHARE,
  sessionIdleSeconds: 'It is fixed: 3600 seconds.',
  maxUnreadBytesPerStream: 'It is fixed: 1048576 bytes.',
  maxUnreadBytes: BYTES,
  maxUnreadBytesPerPrincipal: SHARE,
  sendSeconds: 'It is fixed: 60 seconds.',
};
