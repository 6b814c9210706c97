/**
 * What keeps a call of shape H between its rounds. `ContinuationStore` parks the running handler in this process's
 * memory; `@mrtr/linear-dbos` lets it wait in a durable workflow.
 */
import type { InputRequests, ServerContext } from '@mrtr/core';
import type { Call } from '@mrtr/core/shape';
import { loadState, saveState } from '../kit/state.ts';
import type { LinearContext } from './context.ts';
import type { Outcome } from './frame.ts';

/** One request of a call, as a store is given it. Nothing of it is kept: `ctx` alone holds some 20 KB. */
export interface LinearRound {
  /** The author's function. */
  readonly handler: (input: never, ctx: LinearContext) => unknown;
  /** The call's arguments, already validated. */
  readonly input: unknown;
  /** What the latest {@link Turn} gave as `id`; undefined in a call's first request. */
  readonly id: string | undefined;
  readonly call: Call;
  readonly ctx: ServerContext;
}

/**
 * How a round ended. `asked`: the handler waits, and `id` finds it again; it goes into `requestState`, which is sealed.
 * Without an `id` the questions may not go out (see `askProblem`): the handler was aborted, and the boundary answers.
 */
export type Turn =
  | {
      readonly kind: 'asked';
      readonly id: string | undefined;
      readonly requests: InputRequests;
      /** Where the handler waits, for the server's own router; see `withRoutingLabel`. */
      readonly routingLabel?: string | undefined;
    }
  | Outcome;

/** Where the handlers of `linear` wait. */
export interface LinearStore {
  /**
   * Starts a call, or goes on with one, until its handler asks or settles.
   *
   * @throws StoreFull when there is no room for a new call; nothing of it has run.
   * @throws ContinuationLost when the call cannot go on.
   */
  round(round: LinearRound): Promise<Turn>;
  /** Handlers that wait in this process's memory. */
  readonly parked: number;
  /** Gives back what is held. Nothing is admitted afterwards. */
  close(): Promise<void>;
}

const TAG = 'linear/1';

/** The state of a call that waits under `id`. */
export const continuationState = (id: string | undefined): string => saveState(TAG, { c: { id } });

/** The id in the state of this request; undefined in a call's first. */
export const continuationOf = (ctx: ServerContext): string | undefined =>
  (loadState(ctx, TAG)?.c as { readonly id: string } | undefined)?.id;
