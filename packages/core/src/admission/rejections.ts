/** Rejects requests: the client gets a fixed error, and the operator gets the reason. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { publish } from '../diagnostics/events.ts';
import { type LoggedCall, withCallInMessage } from '../diagnostics/log-line.ts';
import type { Rejection } from '../diagnostics/rejection-reasons.ts';
import { RequestStateRejected } from '../errors.ts';

/** Reports reasons to the operator, and throws errors that reveal nothing to a client. */
export class Rejections {
  readonly #onerror: (error: Error) => void;

  constructor(onerror: (error: Error) => void) {
    this.#onerror = onerror;
  }

  /** Reports an error that no client may read. Never throws, even if an author's `onerror` does. */
  report(error: unknown, about: LoggedCall) {
    this.#onerror(withCallInMessage(error, about));
  }

  /** Counts a rejection whose reason the client may read. */
  count(rejection: Rejection, { id, method, target }: LoggedCall) {
    publish('mrtr:rejection', { ...rejection, call: id, method, target });
  }

  /** Rejects a request. The client reads only `message`, because the cause may name hosts or values. */
  rejectRequest(rejection: Rejection, about: LoggedCall, cause: unknown, message: string): never {
    this.count(rejection, about);
    this.report(cause, about);
    throw new ProtocolError(ProtocolErrorCode.InternalError, message);
  }

  /** Rejects state. The client gets the same error for every reason. */
  rejectState(rejection: Rejection, about: LoggedCall, token: string | undefined, why = ''): never {
    this.reportRejected(rejection, about, token, why);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  }

  /** Reports that state was rejected, with the reason. */
  reportRejected(rejection: Rejection, about: LoggedCall, token: string | undefined, why = '') {
    const { id, method, target } = about;
    publish('mrtr:rejection', { ...rejection, call: id, method, target, bytes: token?.length ?? 0 });
    this.report(new RequestStateRejected(rejection, why), about);
  }
}
