/** A site with one linear tool, for the tests of shape H. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { RequestStateOptions } from '@mrtr/core';
import type { Call } from '@mrtr/core/shape';
import { onTestFinished } from 'vitest';
import {
  type Args,
  type Caller,
  type RoundSummary,
  requestOf,
  TestDeployment,
  tool,
} from '../fixture.test-support.ts';
import {
  ContinuationStore,
  type ContinuationStoreOptions,
  type LinearContext,
  linear,
  type RoundEnd,
} from './index.ts';

export type Handler = (args: Args, ctx: LinearContext) => CallToolResult | Promise<CallToolResult>;

/** The outcome of a retry whose handler is not parked here. */
export const LOST: RoundSummary = {
  fails:
    'This call cannot be resumed here: its continuation expired, was resumed already, or is held by another ' +
    'process. Start the call again.',
};

interface Parking {
  readonly site: TestDeployment;
  /** A client of the site. */
  readonly client: Caller;
  readonly store: ContinuationStore;
}

/** Serves `handler` from one store, which is closed after the test. */
export async function parking(
  handler: Handler,
  options?: ContinuationStoreOptions,
  policy?: RequestStateOptions,
): Promise<Parking> {
  const parked = await serving(handler, options, policy);
  onTestFinished(() => parked.store.close());
  return parked;
}

/** Serves `handler` from one store. Does not close it, because that would wait for a handler that does not end. */
export async function serving(
  handler: Handler,
  options?: ContinuationStoreOptions,
  policy?: RequestStateOptions,
): Promise<Parking> {
  const store = new ContinuationStore(options);
  const site = new TestDeployment(tool(linear(handler, { store })), policy);
  return { store, site, client: await site.connect() };
}

/** The first round of `handler` in `store`, without a server around it. */
export function startRound(
  store: ContinuationStore,
  handler: (input: never, ctx: LinearContext) => unknown,
  { signal }: Pick<AbortController, 'signal'> = new AbortController(),
  { input = {} as object, ...about }: Partial<Call> & { readonly input?: object } = {},
): Promise<RoundEnd> {
  const { call, ctx } = requestOf(about, { signal });
  return store.runRound({ handler, input, id: undefined, call, ctx });
}
