/** Whether there is anybody to ask. */

import type { ServerContext } from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { findCall } from './call.ts';
import { speaksMrtr } from './revision.ts';
import type { ClientCapabilities } from './wire.ts';

/** The kinds of input a server can ask a client for. `elicitation` means its form mode. */
export type InputKind = 'elicitation' | 'sampling' | 'roots';

/**
 * Whether this request may be answered with `input_required` for `kind`: its client speaks the revision (or
 * is an old one that the SDK's shim asks over its stream) *and* declared the capability. A server MUST NOT
 * ask for what the client did not declare (basic/patterns/mrtr).
 */
export function canAsk(ctx: ServerContext, kind: InputKind): boolean {
  if (speaksMrtr(ctx)) {
    const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
    return declares(envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined, kind);
  }
  return findCall(ctx)?.legacy === 'shim' && canAskLive(ctx, kind);
}

/** Whether an old client on this connection can be asked over its held-open stream. Never on stateless serving. */
export function canAskLive(ctx: ServerContext, kind: InputKind): boolean {
  return !speaksMrtr(ctx) && declares(findCall(ctx)?.legacyCapabilities, kind);
}

function declares(capabilities: ClientCapabilities | undefined, kind: InputKind): boolean {
  const declared = capabilities?.[kind];
  if (declared === undefined) return false;
  // A bare `elicitation: {}` means form mode; a client that lists modes and not `form` cannot show a form.
  if (kind === 'elicitation') return 'form' in declared || !('url' in declared);
  return true;
}
