/** Whether this request's client can be asked. */
import type { ClientCapabilities, ServerContext } from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { findCall } from '../wire/call.ts';
import { declaredKinds, type InputKind } from '../wire/input-kind.ts';
import { speaksMrtr } from '../wire/revision.ts';

/**
 * Whether this request may be answered with `input_required` for `kind`: its client speaks the revision (or is an
 * old one that the SDK's shim asks over its stream) *and* declared the capability. A server MUST NOT ask for what
 * the client did not declare (2026-07-28, basic/patterns/mrtr).
 *
 * @example if (!canAsk(ctx, 'elicitation')) return errorResult('Nothing was deployed: deploying asks for a yes.');
 */
export const canAsk = (ctx: ServerContext, kind: InputKind): boolean =>
  (findCall(ctx)?.askable ?? declaredInEnvelope(ctx)).includes(kind);

/**
 * Whether an old client on this connection can be asked over its open stream. Never on stateless serving.
 *
 * @example if (canAskLive(ctx, 'elicitation')) return askLive(ctx, 'units', units);
 */
export const canAskLive = (ctx: ServerContext, kind: InputKind): boolean =>
  !speaksMrtr(ctx) && declaredKinds(findCall(ctx)?.legacyCapabilities).includes(kind);

/** What the client of a modern request declares. */
export function declaredInEnvelope(ctx: ServerContext): readonly InputKind[] {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  return declaredKinds(envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined);
}
