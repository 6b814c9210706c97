/**
 * Shape D: two handlers, one for each era. The library only chooses between them.
 *
 * Shape C makes the same choice inside one handler, with `speaksMrtr(ctx)` of `@mrtr/core`. Shape A is the SDK's own
 * legacy shim (`protectedServer` with the policy `shim`).
 *
 * After a deploy: the author keeps the state, so read it with `readState` and a schema. `readAnswer` asks an open question
 * again if it was reworded, renamed, narrowed or widened. Kept answers are compared with the schema only.
 */
import { type InputRequiredResult, type ServerContext, speaksMrtr } from '@mrtr/core';
import { aFunction, asRequired, requireOptions } from '@mrtr/core/internal';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import { shapeCallback } from '@mrtr/core/shape';
import { publishEntry } from '../kit/handler-context.ts';
import type { Author } from '../kit/state.ts';

/** The two handlers of {@link byEra}. */
export interface Eras<Input, R> {
  /** Serves 2026-07-28 and later; asks by returning `input_required`. */
  readonly modern: Author<Input, ServerContext, R | InputRequiredResult>;
  /** Serves 2025-11-25 and earlier; asks with `askLive`, which throws where no live connection is open. */
  readonly legacy: Author<Input, ServerContext, R>;
}

/**
 * Makes two handlers into one SDK callback for a tool, a prompt or a resource, by the revision of the request.
 *
 * @throws InvalidOption without one of the handlers, and for a third.
 * @example server.registerTool('deploy', { inputSchema }, byEra({ modern: deploy, legacy: deployLive }));
 */
export function byEra<Input, R extends CompleteResult>(eras: Eras<Input, R>): SdkCallback<Input, R> {
  requireOptions('byEra', eras, { modern: asRequired(aFunction), legacy: asRequired(aFunction) });
  return shapeCallback<Input, R>('by-era', async (input, ctx, call) => {
    publishEntry(call, 'by-era');
    return speaksMrtr(ctx) ? eras.modern(input, ctx) : eras.legacy(input, ctx);
  });
}
