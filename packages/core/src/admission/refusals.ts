/** What a refused request tells its client, and what it tells the operator. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Binding } from '../state/binding.ts';
import type { RejectionReason } from '../state/codec.ts';
import { RequestStateRejected } from '../support/errors.ts';
import { publish } from '../wire/diagnostics.ts';
import type { NotServedReason } from './single-use.ts';

/** Reports reasons to the operator, and throws errors whose text gives a client nothing. */
export class Refusals {
  readonly #onerror: (error: Error) => void;

  constructor(onerror: (error: Error) => void) {
    this.#onerror = onerror;
  }

  /** Reports what no client may read. Never throws: an author's `onerror` may. */
  report(error: unknown): void {
    this.#onerror(asError(error));
  }

  /** Refuses a request whose cause may name hosts or values: the client reads `message` only. */
  refuse(cause: unknown, message: string): never {
    this.report(cause);
    throw new ProtocolError(ProtocolErrorCode.InternalError, message);
  }

  /** Refuses state. The client gets the same error for every reason. */
  reject(binding: Binding, token: string | undefined, reason: Reason, why = ''): never {
    this.reportRejected(binding, token, reason, why);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  }

  /** Reports that state was refused, and why. */
  reportRejected({ method, target }: Binding, token: string | undefined, reason: Reason, why = ''): void {
    publish('mrtr:state', { phase: 'rejected', method, target, bytes: token?.length ?? 0, reason });
    const message = `requestState of ${method} ${target} rejected: ${reason}${why && `: ${why}`}`;
    this.report(new RequestStateRejected(message, reason));
  }
}

type Reason = RejectionReason | NotServedReason;

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
