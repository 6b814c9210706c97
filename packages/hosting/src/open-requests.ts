/** Counts requests and their bytes, from the end of the body until the response is sent and the handler has ended. */
import { isJSONRPCRequest } from '@modelcontextprotocol/server';
import {
  AbandonedQuota,
  type OptionChecks,
  Quota,
  QuotaSlot,
  wholeNumber,
  wholeNumbers,
  withDefaults,
} from '@mrtr/core/internal';
import type { Body } from './body.ts';
import { countRequest } from './counted-request.ts';
import type { Outgoing } from './exchange.ts';
import { noRoom } from './rejections.ts';
import type { OnError } from './server-instance.ts';

/**
 * Bounds on open requests. `maxAbandoned` also bounds memory: an abandoned handler may hold its request's body, which
 * `maxCallBytes` no longer counts.
 */
export interface CallLimits {
  /** Handlers of cancelled requests that have not ended. Default 1000. */
  readonly maxAbandoned?: number;
  /** The same for one principal. Default 64. */
  readonly maxAbandonedPerPrincipal?: number;
  /**
   * Requests at once, in both eras. Default 1000. A request counts until it is answered and its handler has ended. A
   * cancelled request counts as abandoned instead. Its client cancels it by `notifications/cancelled`, by ending its
   * session, or by hanging up at 2026-07-28. At 2025-11-25, hanging up in a session cancels nothing.
   */
  readonly maxRequests?: number;
  /** The same of one principal. Default 64; anonymous callers share `maxRequests`. */
  readonly maxRequestsPerPrincipal?: number;
  /** Bytes of the bodies of open requests and subscriptions. Default 64 MiB. */
  readonly maxCallBytes?: number;
  /** The same of one principal. Default 8 MiB; anonymous callers share `maxCallBytes`. */
  readonly maxCallBytesPerPrincipal?: number;
  /** Subscription streams of new clients at once. Default 1024. */
  readonly maxSubscriptions?: number;
  /** The same of one principal. Default 32; anonymous callers share `maxSubscriptions`. */
  readonly maxSubscriptionsPerPrincipal?: number;
}

export const CALL_DEFAULTS = {
  maxRequests: 1000,
  maxRequestsPerPrincipal: 64,
  maxCallBytes: 67_108_864,
  maxCallBytesPerPrincipal: 8_388_608,
  maxSubscriptions: 1024,
  maxSubscriptionsPerPrincipal: 32,
  maxAbandoned: 1000,
  maxAbandonedPerPrincipal: 64,
};

export const CALL_CHECKS: OptionChecks<CallLimits> = {
  ...wholeNumbers(CALL_DEFAULTS),
  // 0 disables subscriptions.
  maxSubscriptions: wholeNumber(0),
  maxSubscriptionsPerPrincipal: wholeNumber(0),
};

/** A request that passed the checks, and its sender. */
export interface AdmittedRequest {
  readonly request: Request;
  readonly outgoing: Outgoing;
  readonly body: Body | undefined;
  readonly principal: string | undefined;
}

/** Makes a function that admits calls and subscriptions within the limits. */
export function callQuota(options: CallLimits, onerror: OnError) {
  const limits = withDefaults(options, CALL_DEFAULTS);
  const calls = new Quota(limits.maxRequests, limits.maxRequestsPerPrincipal);
  const bytes = new Quota(limits.maxCallBytes, limits.maxCallBytesPerPrincipal);
  const subscriptions = new Quota(limits.maxSubscriptions, limits.maxSubscriptionsPerPrincipal);
  const abandoned = new AbandonedQuota(limits.maxAbandoned, limits.maxAbandonedPerPrincipal, onerror);

  /** Lets `serve` answer. Does not count notifications and answers, because they end calls. */
  return async ({ request, outgoing, body, principal }: AdmittedRequest, serve: () => Promise<Response>) => {
    if (!body || !isJSONRPCRequest(body.json)) return serve();
    const listens = body.json.method === 'subscriptions/listen';
    const place = QuotaSlot.take(listens ? subscriptions : calls, principal);
    if (typeof place === 'string') return noRoom(place, listens ? 'subscriptions' : 'calls running');
    const room = QuotaSlot.take(bytes, principal, body.bytes);
    if (typeof room === 'string') {
      place.giveBack();
      return noRoom(room, 'bytes in the calls running');
    }
    // A subscription has no handler to abandon.
    const call = countRequest(request, place, room, listens ? undefined : abandoned);
    // Node also emits `close` when the stream breaks.
    const closed = outgoing.destroyed || new Promise<void>((resolve) => outgoing.once('close', resolve));
    const served = serve();
    void call.endAfter(Promise.allSettled([served, closed]));
    return served;
  };
}
