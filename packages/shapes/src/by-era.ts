/**
 * Shape D: two handlers, one for each era. The library only picks.
 *
 * Shape C is the same decision inside one handler; it needs no library but `speaksMrtr(ctx)` of `@mrtr/core`.
 * Shape A needs none either: it is the SDK's own legacy shim (`protectedServer` with the policy `shim`).
 */
import {
  type CompleteResult,
  callOf,
  type InputRequiredResult,
  publish,
  type SdkCallback,
  type ServerContext,
  speaksMrtr,
} from '@mrtr/core';
import type { Author } from './shape.ts';

/** The two handlers of {@link byEra}. */
export interface Eras<Input, R> {
  /** Serves 2026-07-28 and later; asks by returning `input_required`. */
  readonly modern: Author<Input, ServerContext, R | InputRequiredResult>;
  /** Serves 2025-11-25 and earlier; asks with `askLive`, which throws where no live connection is held. */
  readonly legacy: Author<Input, ServerContext, R>;
}

/**
 * Makes two handlers into one SDK callback for a tool, a prompt or a resource, by the revision of the request.
 *
 * @example server.registerTool('deploy', { inputSchema }, byEra({ modern: deploy, legacy: deployLive }));
 */
export function byEra<Input, R extends CompleteResult>(eras: Eras<Input, R>): SdkCallback<Input, R> {
  return async (input, ctx) => {
    publish('mrtr:handler', { shape: 'by-era', target: callOf(ctx, 'by-era').target });
    return speaksMrtr(ctx) ? eras.modern(input, ctx) : eras.legacy(input, ctx);
  };
}
