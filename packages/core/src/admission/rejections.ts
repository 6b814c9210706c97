/** Rejects requests: the client gets a fixed error, and the operator gets the reason. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { publish } from '../diagnostics/diagnostics.ts';
import { RequestStateRejected } from '../support/errors.ts';
import { type LoggedCall, withCallInMessage } from '../support/log-line.ts';
import type { RejectionReason } from '../support/rejection-reasons.ts';

/** Reports reasons to the operator, and throws errors that reveal nothing to a client. */
export class Rejections {
  readonly #onerror: (error: Error) => void;

  constructor(onerror: (error: Error) => void) {
    this.#onerror = onerror;
  }

  /** Reports an error that no client may read. Never throws, even if an author's `onerror` does. */
  report(error: unknown, about: LoggedCall): void {
    this.#onerror(withCallInMessage(error, about));
  }

  /** Counts a rejection whose reason the client may read. */
  count(reason: RejectionReason, { id, method, target }: LoggedCall): void {
    publish('mrtr:rejection', { reason, call: id, method, target });
  }

  /** Rejects a request. The client reads only `message`, because the cause may name hosts or values. */
  rejectRequest(reason: RejectionReason, about: LoggedCall, cause: unknown, message: string): never {
    this.count(reason, about);
    this.report(cause, about);
    throw new ProtocolError(ProtocolErrorCode.InternalError, message);
  }

  /** Rejects state. The client gets the same error for every reason. */
  rejectState(about: LoggedCall, token: string | undefined, reason: RejectionReason, why = ''): never {
    this.reportRejected(about, token, reason, why);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  }

  /** Reports that state was rejected, with the reason. */
  reportRejected(about: LoggedCall, token: string | undefined, reason: RejectionReason, why = ''): void {
    const { method, target } = about;
    this.count(reason, about);
    publish('mrtr:state', { phase: 'rejected', method, target, bytes: token?.length ?? 0, reason });
    const message = `requestState rejected: ${reason}${why && `: ${why}`}`;
    this.report(new RequestStateRejected(message, reason), about);
  }
}
