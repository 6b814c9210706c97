/** Which protocol revision this request is served on. */

import type { ServerContext } from '@modelcontextprotocol/server';
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { findCall } from './call.ts';

/** The first revision in which a server asks by returning `input_required` (SEP-2322). */
export const MRTR_REVISION = '2026-07-28';

/**
 * The revision of this request: the connection's where the boundary is in place (a client cannot talk its
 * way out of that one), else what the request's envelope claims. Undefined for an old client on an
 * unprotected server or on stateless serving.
 */
export function negotiatedRevision(ctx: ServerContext): string | undefined {
  const call = findCall(ctx);
  if (call) return call.revision;
  const claimed = (ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[PROTOCOL_VERSION_META_KEY];
  return typeof claimed === 'string' ? claimed : undefined;
}

/** Whether a revision has `input_required`. Revisions are dates, so they compare as text. */
export const isModern = (revision: string | undefined): boolean =>
  revision !== undefined && revision >= MRTR_REVISION;

/** Whether this request's client understands `input_required`. */
export const speaksMrtr = (ctx: ServerContext): boolean => isModern(negotiatedRevision(ctx));
