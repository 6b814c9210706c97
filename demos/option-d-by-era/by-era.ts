/**
 * Shape D: two handlers, one for each era. The shape only chooses between them.
 *
 * Shape C makes the same choice inside one handler, with `speaksMrtr(ctx)` of `@mrtr/core`. Shape A is the SDK's own
 * legacy shim (`protectedServer` with the policy `shim`).
 *
 * After a deploy: the author keeps the state, so read it with `readState` and a schema. `readAnswer` asks an open question
 * again if it was reworded, renamed, narrowed or widened. Kept answers are compared with the schema only.
 */

import { type InputRequiredResult, type ServerContext, speaksMrtr } from '@mrtr/core';
import { type CompleteResult, publishEntry, type SdkCallback, shapeCallback } from '@mrtr/core/shape';

/** The two handlers of {@link byEra}. */
interface Eras<Input, R> {
  /** Serves 2026-07-28 and later; asks by returning `input_required`. */
  modern(input: Input, ctx: ServerContext): Promise<R | InputRequiredResult>;
  /** Serves 2025-11-25 and earlier; asks with `askLive`, which throws where no live connection is open. */
  legacy(input: Input, ctx: ServerContext): Promise<R>;
}

/** Makes two handlers into one SDK callback for a tool, a prompt or a resource, by the revision of the request. */
export function byEra<Input, R extends CompleteResult>(eras: Eras<Input, R>): SdkCallback<Input, R> {
  return shapeCallback<Input, R>('by-era', async (input, ctx, call) => {
    publishEntry(call, 'by-era');
    return speaksMrtr(ctx) ? eras.modern(input, ctx) : eras.legacy(input, ctx);
  });
}
