/** A site with one linear tool, for the tests of shape H. */
import type { CallToolResult, RequestStateOptions } from '@mrtr/core';
import { onTestFinished } from 'vitest';
import { type Args, Site, tool } from '../fixture.test-support.ts';
import { ContinuationStore, type ContinuationStoreOptions, type LinearContext, linear } from './index.ts';

export type Handler = (args: Args, ctx: LinearContext) => CallToolResult | Promise<CallToolResult>;

/** Serves `handler` from one store, which is closed after the test. */
export function parking(
  handler: Handler,
  options: ContinuationStoreOptions & RequestStateOptions = {},
): { readonly site: Site; readonly store: ContinuationStore } {
  const { maxFrames, maxFramesPerPrincipal, ttlSeconds, ...state } = options;
  const store = new ContinuationStore({
    ...(maxFrames !== undefined && { maxFrames }),
    ...(maxFramesPerPrincipal !== undefined && { maxFramesPerPrincipal }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  });
  onTestFinished(() => store.close());
  return { store, site: new Site(tool(linear(handler, { store })), state) };
}
