/** Counts what requests hold, from when their bodies are in until they are answered and their handlers have settled. */
import type { ServerResponse } from 'node:http';
import { isJSONRPCRequest } from '@modelcontextprotocol/server';
import { handlerSettled, type OptionChecks, Quota, wholeNumber } from '@mrtr/core/shape';
import type { Body } from './body.ts';
import { noRoom } from './problem.ts';
import { callOver } from './session-calls.ts';

/** Bounds on requests that are not over. */
export interface CallLimits {
  /** Requests at once, in both eras. Default 1000. One counts until its handler has settled, whatever its client does. */
  readonly maxCalls?: number;
  /** The same of one principal. Default 64; anonymous callers share `maxCalls`. */
  readonly maxCallsPerPrincipal?: number;
  /** Bytes of the bodies of those requests and of subscriptions. Default 64 MiB. */
  readonly maxCallBytes?: number;
  /** The same of one principal. Default 8 MiB; anonymous callers share `maxCallBytes`. */
  readonly maxCallBytesPerPrincipal?: number;
  /** Subscription streams of new clients at once. Default 1024. */
  readonly maxSubscriptions?: number;
  /** The same of one principal. Default 32; anonymous callers share `maxSubscriptions`. */
  readonly maxSubscriptionsPerPrincipal?: number;
}

/** The checks of {@link CallLimits}. */
export const CALL_CHECKS: OptionChecks<CallLimits> = {
  maxCalls: wholeNumber(),
  maxCallsPerPrincipal: wholeNumber(),
  maxCallBytes: wholeNumber(),
  maxCallBytesPerPrincipal: wholeNumber(),
  // 0 turns subscriptions off.
  maxSubscriptions: wholeNumber(0),
  maxSubscriptionsPerPrincipal: wholeNumber(0),
};

/** A request that was let in, and who sent it. */
export interface Admission {
  readonly request: Request;
  readonly outgoing: ServerResponse;
  readonly body: Body | undefined;
  readonly principal: string | undefined;
}

const MIB = 1_048_576;

/** Lets calls and subscriptions in while there is room. */
export class Calls {
  readonly #calls: Quota;
  readonly #subscriptions: Quota;
  readonly #bytes: Quota;

  constructor(limits: CallLimits) {
    this.#calls = new Quota(limits.maxCalls ?? 1000, limits.maxCallsPerPrincipal ?? 64);
    this.#bytes = new Quota(limits.maxCallBytes ?? 64 * MIB, limits.maxCallBytesPerPrincipal ?? 8 * MIB);
    this.#subscriptions = new Quota(
      limits.maxSubscriptions ?? 1024,
      limits.maxSubscriptionsPerPrincipal ?? 32,
    );
  }

  /** Has `serve` answer. Notifications and answers are not counted: they are what ends calls. */
  async admit({ request, outgoing, body, principal }: Admission, serve: () => Promise<Response>) {
    if (!body || !isJSONRPCRequest(body.json)) return serve();
    const listens = body.json.method === 'subscriptions/listen';
    const places = listens ? this.#subscriptions : this.#calls;
    const full = places.take(principal);
    if (full) return noRoom(full, listens ? 'subscriptions' : 'calls running');
    const fullOfBytes = this.#bytes.take(principal, body.bytes);
    if (fullOfBytes) {
      places.give(principal);
      return noRoom(fullOfBytes, 'bytes in the calls running');
    }
    // Also when the stream breaks: Node closes it then.
    const closed = outgoing.closed || new Promise((resolve) => outgoing.once('close', resolve));
    const served = serve();
    void Promise.allSettled([served, closed])
      .then(() => callOver(request))
      .then(() => handlerSettled(request))
      .finally(() => {
        places.give(principal);
        this.#bytes.give(principal, body.bytes);
      });
    return served;
  }
}
