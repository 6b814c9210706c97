/** One entry: runs the resolvers, each once, and gathers either all values or all open questions. */
import {
  CannotAsk,
  canAsk,
  ElicitationDeclined,
  type InputRequest,
  type InputRequests,
  isRefusal,
  ownEntry,
  type Question,
  type ServerContext,
  type Settled,
} from '@mrtr/core';
import type { Recall } from '../recall.ts';
import type { ResolvedParameter, ResolverPlans } from './plan.ts';
import { Ask, type Resolver } from './resolver.ts';

/** Values by parameter; or, where questions are open, those. */
export type ResolvedArguments =
  | { readonly values: Readonly<Record<string, unknown>> }
  | { readonly open: InputRequests };

/** What a resolver came to in this entry; undefined while a question below it is open. */
type Result = Settled<unknown> | undefined;

/** What one entry resolves from. */
export interface ResolutionRequest {
  readonly toolArguments: Readonly<Record<string, unknown>>;
  readonly ctx: ServerContext;
  /** Where a question's answer is looked up. */
  readonly recall: Pick<Recall, 'read'>;
}

/**
 * Fills every resolved parameter.
 *
 * Each resolver runs at most once, as soon as what it needs is there, and at the same time as all others whose needs
 * are; so an entry takes as long as its longest chain, and independent questions are open together.
 *
 * @throws ElicitationDeclined when the user said no to something whose consumer wants the plain value.
 * @throws CannotAsk when a resolver asks and the client cannot be asked.
 */
export async function resolveArguments(
  resolved: ReadonlyMap<string, ResolvedParameter>,
  plans: ResolverPlans,
  request: ResolutionRequest,
): Promise<ResolvedArguments> {
  const entry = new Entry(plans, request);
  const parameters = [...resolved];
  const results = await Promise.all(parameters.map(([, { resolver }]) => entry.resultOf(resolver)));
  const refused = results.find((result, at) => isRefused(result, parameters[at]?.[1]));
  if (refused) throw new ElicitationDeclined(refused.kind === 'declined' ? 'decline' : 'cancel');
  if (results.includes(undefined)) return { open: inOrder(entry.open, plans) };
  const values = parameters.map(([name, { wantsOutcome }], at) => [name, taken(results[at], wantsOutcome)]);
  return { values: Object.fromEntries(values) as Record<string, unknown> };
}

/** Users see their questions in the same order, whichever resolver was quicker. */
function inOrder(open: ReadonlyMap<string, InputRequest>, plans: ResolverPlans): InputRequests {
  const requests = [...plans.keys()].map(({ name }) => [name, open.get(name)] as const);
  return Object.fromEntries(requests.filter(([, request]) => request !== undefined)) as InputRequests;
}

class Entry {
  readonly open = new Map<string, InputRequest>();
  readonly #plans: ResolverPlans;
  readonly #request: ResolutionRequest;
  readonly #results = new Map<Resolver<unknown>, Promise<Result>>();

  constructor(plans: ResolverPlans, request: ResolutionRequest) {
    this.#plans = plans;
    this.#request = request;
  }

  /** Memoised by identity: what two consumers share runs once. */
  resultOf(resolver: Resolver<unknown>): Promise<Result> {
    const known = this.#results.get(resolver);
    if (known) return known;
    const result = this.#run(resolver);
    this.#results.set(resolver, result);
    return result;
  }

  async #run(resolver: Resolver<unknown>): Promise<Result> {
    const plan = this.#plans.get(resolver);
    if (!plan) throw new TypeError(`The resolver '${resolver.name}' is not in the plans.`);
    const below = [...plan.resolvers];
    const results = await Promise.all(below.map(([, { resolver: needed }]) => this.resultOf(needed)));
    const needs: Record<string, unknown> = {};
    for (const [need, name] of plan.arguments) needs[need] = ownEntry(this.#request.toolArguments, name);
    for (const need of plan.contexts) needs[need] = this.#request.ctx;
    // A resolver that wants a plain value and cannot have it is refused itself: its consumers decide again. That comes
    // before what is open, whichever was declared first.
    const refused = results.find((result, at) => isRefused(result, below[at]?.[1]));
    if (refused || results.includes(undefined)) return refused;
    for (const [at, [need, { wantsOutcome }]] of below.entries()) {
      needs[need] = taken(results[at], wantsOutcome);
    }
    const value = await resolver.run(needs);
    return value instanceof Ask ? this.#ask(resolver.name, value.question) : { kind: 'accepted', value };
  }

  // A recorded answer is looked at here only, when the resolver asks again and in the same words: so nothing that a
  // client sends back can stand in for what a resolver computes.
  #ask(name: string, question: Question): Result {
    const { ctx, recall } = this.#request;
    const answer = recall.read(name, question);
    if (answer.kind === 'accepted' || isRefusal(answer)) return answer;
    if (!canAsk(ctx, question.kind)) {
      throw new CannotAsk(
        `The resolver '${name}' has to ask "${question.message}", and this client cannot be asked.`,
      );
    }
    this.open.set(name, question.request);
    return undefined;
  }
}

const taken = (result: Result, wantsOutcome: boolean): unknown =>
  wantsOutcome ? result : result?.kind === 'accepted' ? result.value : undefined;

const isRefused = (result: Result, consumer: ResolvedParameter | undefined): boolean =>
  result !== undefined && isRefusal(result) && !consumer?.wantsOutcome;
