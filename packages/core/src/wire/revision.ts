/** The protocol revision of a request. */
import type { ServerContext } from '@modelcontextprotocol/server';
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { findCall } from './call.ts';

/** The first revision in which a server asks by returning `input_required` (SEP-2322). */
export const MRTR_REVISION = '2026-07-28';

/** Whether a revision has `input_required`. Revisions are dates, so they compare as text. */
export const isModern = (revision: string | undefined): boolean =>
  revision !== undefined && revision >= MRTR_REVISION;

/**
 * Whether this request's client understands `input_required`. On a protected server the connection's revision decides,
 * which a client cannot forge; otherwise the request's envelope does.
 *
 * @example const answer = speaksMrtr(ctx) ? readAnswer(ctx, 'units', units) : await askLive(ctx, 'units', units);
 */
export function speaksMrtr(ctx: ServerContext): boolean {
  const call = findCall(ctx);
  if (call) return isModern(call.revision);
  const declared = (ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[PROTOCOL_VERSION_META_KEY];
  return typeof declared === 'string' && isModern(declared);
}
