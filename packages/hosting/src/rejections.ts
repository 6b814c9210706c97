import type { RejectionReason } from '@mrtr/core/events';
import { publish, type QuotaExceeded } from '@mrtr/core/internal';
import type { OnError } from './server-instance.ts';

/** A rejection, as a JSON-RPC error. */
export const rejectHttp = (
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code = -32000,
  detail = DETAILS[status] ?? 'http_invalid',
): Response =>
  countRejection(
    Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers }),
    detail,
  );

const DETAILS: Readonly<Record<number, string>> = {
  403: 'http_forbidden_origin',
  429: 'http_too_many',
  500: 'http_failed',
  503: 'http_full',
};

/** The reasons other than `transport`. */
const REASONS: Readonly<Record<string, RejectionReason>> = {
  http_too_many: 'busy',
  http_failed: 'author',
  http_full: 'busy',
};

/** Counts `response` in the metrics as a rejection, and returns it. */
export function countRejection(response: Response, detail: string): Response {
  publish('mrtr:rejection', { reason: REASONS[detail] ?? 'transport', detail });
  return response;
}

/** The rejection at a limit: 429 for the caller's own limit, 503 for the server's. */
export const rejectFull = (full: QuotaExceeded, what: string, headers?: Record<string, string>): Response =>
  full === 'own'
    ? rejectHttp(429, `You have too many ${what}; end one, or try again later`, headers)
    : rejectHttp(503, `This server has too many ${what}; try again later`, headers);

/** The response after an internal error. `onerror` receives the reason; the client does not. */
export function rejectFailed(error: unknown, onerror: OnError): Response {
  onerror(error instanceof Error ? error : new Error(String(error)));
  return rejectHttp(500, 'Internal server error', {}, -32603);
}
