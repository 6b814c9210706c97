/** Whether this request's client can be asked. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { findCall, speaksMrtr } from '../wire/call.ts';
import { declaredKinds, type InputKind } from '../wire/input-kind.ts';

/**
 * Whether this request may be answered with `input_required` for `kind`. Its client must have declared the capability,
 * *and* must speak the revision or be asked by the SDK's shim over its stream. A server MUST NOT ask for undeclared
 * input (2026-07-28, basic/patterns/mrtr).
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

/** The kinds of input that a modern request's client declares. */
export function declaredInEnvelope(ctx: ServerContext): readonly InputKind[] {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  return declaredKinds(envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined);
}
