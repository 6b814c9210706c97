/**
 * What keeps a call of shape H between its rounds. `ContinuationStore` parks the running handler in this process's
 * memory; `@mrtr/linear-dbos` lets it wait in a durable workflow.
 */
import { type Call, canAsk, type InputKind, type InputRequests, type ServerContext } from '@mrtr/core';
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
 * Without an `id` nobody can answer: there are more questions than the policy allows, and the boundary refuses them.
 */
export type Turn =
  | { readonly kind: 'asked'; readonly id: string | undefined; readonly requests: InputRequests }
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

const KINDS: readonly InputKind[] = ['elicitation', 'sampling', 'roots'];
const known = new Map<string, readonly InputKind[]>();

/** What the client of this round can be asked for. Equal ones are the same list: each waiting call holds one. */
export function askableKinds(ctx: ServerContext): readonly InputKind[] {
  const kinds = KINDS.filter((kind) => canAsk(ctx, kind));
  const key = kinds.join();
  const same = known.get(key);
  if (!same) known.set(key, kinds);
  return same ?? kinds;
}

type Limits = Pick<Call, 'round' | 'maxRounds' | 'maxQuestions'>;

/** What ends a call that asks although no further round may follow. */
export const overdrawn = (requests: InputRequests, { round, maxRounds, maxQuestions }: Limits) => {
  if (round >= maxRounds) return `This call still needs input after ${maxRounds} rounds.`;
  if (Object.keys(requests).length > maxQuestions) return 'The call asked too many questions at once.';
  return undefined;
};
