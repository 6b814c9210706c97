/**
 * The reasons of rejections, for logs, metrics and documents. A client gets one only where it can do something about it:
 * limits and malformed requests. State is rejected with one error for all reasons.
 */

/**
 * Each reason, by what an operator does about it, with its meaning. The `detail` of a rejection says more, for the log.
 * https://github.com/mrtr-shapes/mrtr-shapes/blob/main/docs/operating.md#reasons-of-rejections has the same table.
 */
export const REJECTION_REASONS = {
  invalid:
    'the state was altered, cut off, or sealed with a removed key; or arguments or an answer are over a limit',
  expired: 'the user took longer than `ttlSeconds`',
  wrong_request: 'the state belongs to another tool, caller, server, or call with other arguments',
  wrong_version: 'the state was sealed by other code, and does not fit',
  repeated: 'the state was served before, or is being served now, and this retry does not get that result',
  lost: 'the first retry did not end properly, or the handler that waited is gone: nobody knows what it did',
  hung_up: 'the client hung up before its retry was served',
  busy: 'too many calls run, wait or keep state, of anybody or of this caller',
  ledger: 'the ledger failed, is full, may have lost its data, or has another time',
  principal: "the policy's `principal` failed",
  author: 'code of the author failed, or asks too often, too much, or what cannot be sent',
  transport:
    'the HTTP request has no caller, no session, a wrong site or no valid message; nobody read its stream; or the server ' +
    'shuts down',
} as const;

/** The reason of a rejection. */
export type RejectionReason = keyof typeof REJECTION_REASONS;

/** Why a request is rejected, for the operator. */
export interface Rejection {
  readonly reason: RejectionReason;
  /** Says more, for the log: `tampered`, `other_principal`, `clock_differs`. */
  readonly detail?: string | undefined;
}
