/** One entry: runs each resolver once, and collects either all values or all open questions. */
import { ElicitationDeclined, isRefusal, type Question, type Questions } from '@mrtr/core';
import { ownEntry } from '@mrtr/core/internal';
import { callOf, type FinalAnswer, publishEntry } from '@mrtr/core/shape';
import { readAsked } from '../kit/asked.ts';
import type { HandlerContext } from '../kit/handler-context.ts';
import type { Recall } from '../kit/recall.ts';
import { bareRecord } from '../kit/state.ts';
import { isKeyOf } from '../kit/wire-key.ts';
import type { ResolvedParameter, ResolverPlans } from './plan.ts';
import type { Resolver } from './resolver.ts';

type AnyResolver = Resolver<unknown, never>;

/** The values by parameter, or the open questions, by their keys on the wire. */
export type ResolvedArguments =
  | { readonly values: Readonly<Record<string, unknown>> }
  | { readonly open: Questions };

/** A resolver's outcome in this entry; undefined while a question below it is open. */
type Result<T = unknown> = FinalAnswer<T> | undefined;

/** The round of the call in which resolvers run. */
interface Round {
  /** What a `requestContext()` gives to a resolver. */
  readonly context: HandlerContext;
  /** Finds the answers to the questions that resolvers return. */
  readonly recall: Recall;
}

/**
 * Fills every resolved parameter, or returns the questions that are open.
 *
 * Each resolver runs at most once, as soon as its needs are filled, concurrently with the others. So an entry takes as
 * long as its longest chain, and independent questions are asked together.
 *
 * @throws ElicitationDeclined when a question was refused and its consumer takes the plain value.
 * @example
 * // Once, where the tool is registered:
 * const resolved = findResolvedParameters({ units });
 * const plans = buildResolverPlans(resolved, new Set(['location']));
 * // In each round, inside of a `shapeCallback`:
 * const round = { context: handlerContext(ctx), recall: new Recall(ctx, 'my-shape/1') };
 * const filled = await resolveArguments(resolved, plans, { location }, round);
 * return 'open' in filled ? round.recall.ask(filled.open) : body({ location, ...filled.values });
 */
export async function resolveArguments(
  resolved: readonly ResolvedParameter[],
  plans: ResolverPlans,
  toolArguments: Readonly<Record<string, unknown>>,
  { context, recall }: Round,
): Promise<ResolvedArguments> {
  const open = new Map<string, Question>();
  /** The key of the refused question, for each refusal. */
  const refusals = new Map<FinalAnswer<unknown>, string>();
  const results = new Map<AnyResolver, Promise<Result>>();

  /**
   * Fills `parameters`, by name. A refusal passes to each consumer of the plain value. It takes precedence over open
   * questions, in any order of declaration.
   */
  async function fill(
    parameters: readonly ResolvedParameter[],
  ): Promise<Result<Readonly<Record<string, unknown>>>> {
    const outcomes = await Promise.all(parameters.map(({ resolver }) => resultOf(resolver)));
    const filled = bareRecord<unknown>(undefined);
    let isOpen = false;
    for (const [at, { name, wantsOutcome }] of parameters.entries()) {
      const result = outcomes[at];
      if (result && isRefusal(result) && !wantsOutcome) return result;
      isOpen ||= result === undefined;
      filled[name] = wantsOutcome || result?.kind !== 'accepted' ? result : result.value;
    }
    return isOpen ? undefined : { kind: 'accepted', value: filled };
  }

  /** Runs a resolver once, memoised by identity, and returns its result. */
  function resultOf(resolver: AnyResolver) {
    const result = results.get(resolver) ?? run(resolver);
    results.set(resolver, result);
    return result;
  }

  async function run(resolver: AnyResolver): Promise<Result> {
    const filled = await fill(plans.get(resolver) ?? []);
    if (filled?.kind !== 'accepted') return filled;
    const needs: Record<string, unknown> = { ...filled.value };
    for (const [need, filler] of Object.entries(resolver.needs)) {
      if (filler.need === 'argument') needs[need] = ownEntry(toolArguments, filler.name ?? need);
      if (filler.need === 'context') needs[need] = context;
    }
    publishEntry(callOf(context.request), 'resolve', 'resolver', resolver.name);
    const value = await resolver.run(needs);
    // Only this line reads a recorded answer, after the resolver has asked in the same words. So a client's answer can
    // never replace a computed value.
    const asked = readAsked(recall, resolver.name, value);
    if (!asked) return { kind: 'accepted', value };
    const unanswered = Object.entries(asked.open);
    for (const [key, question] of unanswered) open.set(key, question);
    if (asked.refused) {
      const [key, refusal] = asked.refused;
      refusals.set(refusal, key);
      return refusal;
    }
    return unanswered.length > 0 ? undefined : { kind: 'accepted', value: asked.value };
  }

  const filled = await fill(resolved);
  if (!filled) return { open: inOrder(open, [...plans.keys()]) };
  if (isRefusal(filled)) throw new ElicitationDeclined(filled.kind, refusals.get(filled));
  return { values: filled.value };
}

/** Sorts questions by declaration, so that users do not see them in the order in which resolvers finish. */
function inOrder(open: ReadonlyMap<string, Question>, resolvers: readonly AnyResolver[]) {
  const rank = ([key]: readonly [string, Question]) => resolvers.findIndex(({ name }) => isKeyOf(name, key));
  return Object.fromEntries([...open].sort((one, other) => rank(one) - rank(other)));
}
