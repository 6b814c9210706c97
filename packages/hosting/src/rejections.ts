import type { RejectionReason } from '@mrtr/core/events';
import { asError, publish, type QuotaExceeded } from '@mrtr/core/internal';
import type { OnError } from './server-instance.ts';

/** What a rejection's `detail` says. */
type HttpDetail = keyof typeof REASONS;

const REASONS = {
  http_closing: 'transport',
  http_failed: 'author',
  http_forbidden_origin: 'transport',
  http_full: 'busy',
  http_invalid: 'transport',
  http_no_session: 'transport',
  http_too_many: 'busy',
  http_unauthorized: 'transport',
} as const satisfies Record<string, RejectionReason>;

/** Publishes a rejection, and makes its response: a JSON-RPC error. */
export const rejectHttp = (
  status: number,
  detail: HttpDetail,
  message: string,
  headers: Record<string, string> = {},
  code = -32000,
): Response =>
  countRejection(
    Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers }),
    detail,
  );

/** Counts `response` in the metrics as a rejection, and returns it. */
export function countRejection(response: Response, detail: HttpDetail): Response {
  publish('mrtr:rejection', { reason: REASONS[detail], detail });
  return response;
}

/** The rejection at a limit: 429 for the caller's own limit, 503 for the server's. */
export const rejectFull = (full: QuotaExceeded, what: string, headers?: Record<string, string>): Response =>
  full === 'own'
    ? rejectHttp(429, 'http_too_many', `You have too many ${what}; end one, or try again later`, headers)
    : rejectHttp(503, 'http_full', `This server has too many ${what}; try again later`, headers);

/** The response after an internal error. `onerror` receives the reason; the client does not. */
export function rejectFailed(error: unknown, onerror: OnError): Response {
  onerror(asError(error));
  return rejectHttp(500, 'http_failed', 'Internal server error', {}, -32603);
}
