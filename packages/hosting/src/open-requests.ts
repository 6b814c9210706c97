/** Counts the requests that are open: from the end of the body until the response is sent and the handler has ended. */
import { isJSONRPCRequest } from '@modelcontextprotocol/server';
import { awaitHandler, onAbandoned, Quota, QuotaSlot } from '@mrtr/core/internal';
import { type AdmittedRequest, whenClosed } from './exchange.ts';
import { type Limits, REQUEST_BYTES } from './limits.ts';
import { rejectFull } from './rejections.ts';

const END = Symbol('mrtr.end');
// A property, because a WeakMap of many requests slows the garbage collector.
type KeptRequest = Request & { [END]?: Promise<void> };

/** Keeps `request` open until `end`, even if its response ends first because its client hung up. */
export function keepOpen(request: KeptRequest, end: Promise<void>) {
  request[END] = end;
}

/**
 * Makes a function that admits requests and subscriptions within the limits. The policy counts calls. This counts their
 * bytes, and all that no policy counts: other methods, servers without a policy, responses that nobody reads. If the
 * policy counts a cancelled call as abandoned, its bytes are given back.
 */
export function makeRequestCounter({ perPrincipal, ...limits }: Limits) {
  const bytes = new Quota(limits.bytes, perPrincipal);
  const subscriptions = new Quota(limits.subscriptions, perPrincipal);

  /** Lets `serve` answer. Does not count notifications and answers, because they end calls. */
  return async ({ request, outgoing, body, principal }: AdmittedRequest, serve: () => Promise<Response>) => {
    if (!body || !isJSONRPCRequest(body.json)) return serve();
    const listens = body.json.method === 'subscriptions/listen';
    const place = listens ? QuotaSlot.take(subscriptions, principal) : undefined;
    if (typeof place === 'string') return rejectFull(place, 'subscriptions');
    const room = QuotaSlot.take(bytes, principal, body.bytes + (listens ? 0 : REQUEST_BYTES));
    if (typeof room === 'string') {
      place?.giveBack();
      return rejectFull(room, 'requests running');
    }
    onAbandoned(request, () => room.giveBack());
    const served = serve();
    void Promise.allSettled([served, whenClosed(outgoing)]).then(async () => {
      await (request as KeptRequest)[END];
      await awaitHandler(request);
      place?.giveBack();
      room.giveBack();
    });
    return served;
  };
}
