/**
 * Stores keep calls of shape H between their rounds. `ContinuationStore` parks the running handler in this process's
 * memory; the store of `@mrtr/linear-dbos` lets it wait in a durable workflow.
 */
import type { InputRequests } from '@modelcontextprotocol/server';
import type { ServerContext } from '@mrtr/core';
import type { Call } from '@mrtr/core/shape';
import { type HandlerEnd, loadState, saveState } from '../kit/state.ts';
import type { LinearContext } from './context.ts';
import type { FrameTurn } from './frame.ts';

/** One request of a call. The store must not keep it: `ctx` alone holds some 20 KB. */
export interface LinearRound {
  /** The author's function. */
  readonly handler: (input: never, ctx: LinearContext) => unknown;
  /** The call's arguments, already validated. */
  readonly input: unknown;
  /** The `id` of the latest {@link RoundEnd}; undefined in a call's first request. */
  readonly id: string | undefined;
  readonly call: Call;
  readonly ctx: ServerContext;
}

/**
 * How a round ended. `asked`: the handler waits, and its `id` goes into the sealed `requestState`. Without an `id`, the
 * questions may not go out (see `findAskProblem`): the handler was aborted, and the boundary answers the client.
 */
export type RoundEnd = (
  | {
      readonly kind: 'asked';
      readonly id: string | undefined;
      readonly requests: InputRequests;
      /** The label of the handler's instance, for the server's own router; see `ShapeNotes`. */
      readonly routingLabel?: string | undefined;
      /** The keys of the effects that have run, if the questions may not go out. */
      readonly effects?: readonly string[] | undefined;
    }
  | HandlerEnd
) &
  Pick<FrameTurn, 'unfit'>;

/** Keeps the waiting handlers of `linear`. */
export interface LinearStore {
  /**
   * Starts or resumes a call, and runs it until its handler asks or settles.
   *
   * @throws StoreFull when there is no room for a new call; nothing of it has run.
   * @throws ContinuationLost when the call cannot be resumed.
   */
  runRound(round: LinearRound): Promise<RoundEnd>;
  /**
   * True if the store itself serves each token once, on all instances, and repeats the result for the same answer. Then
   * it gets each retry of its calls: the server's ledger gives no lease for them. Default false.
   */
  readonly servesTokensOnce?: boolean;
  /** The number of handlers that wait in this process's memory. */
  readonly parked: number;
  /** Releases everything that the store holds. The store rejects all later calls. */
  close(): Promise<void>;
}

const TAG = 'linear/1';

/** The state of a call that waits under `id`. */
export const continuationState = (id: string | undefined): string => saveState(TAG, { c: { id } });

/** The id in this request's state; undefined in a call's first request. */
export const continuationOf = (ctx: ServerContext): string | undefined =>
  (loadState(ctx, TAG)?.c as { readonly id: string } | undefined)?.id;
