/** One entry: runs each resolver once, and collects either all values or all open questions. */
import { ElicitationDeclined, isRefusal, type Question, type Questions } from '@mrtr/core';
import { ownEntry } from '@mrtr/core/kit';
import type { FinalAnswer } from '@mrtr/core/shape';
import { isQuestion, isQuestions } from '@mrtr/core/shape';
import type { HandlerContext } from '../kit/handler-context.ts';
import type { Recall } from '../kit/recall.ts';
import { isKeyOf, wireKey } from '../kit/wire-key.ts';
import { type ResolvedParameter, resolvedNeeds } from './plan.ts';
import type { Resolver } from './resolver.ts';

/** The values by parameter, or the open questions. */
export type ResolvedArguments =
  | { readonly values: Readonly<Record<string, unknown>> }
  | { readonly open: Questions };

/** A resolver's outcome in this entry; undefined while a question below it is open. */
type Result = FinalAnswer<unknown> | undefined;

/** The input of one entry. */
export interface ResolutionRequest {
  /** The names of all resolvers, in the order of their declaration. */
  readonly resolvers: readonly string[];
  readonly toolArguments: Readonly<Record<string, unknown>>;
  readonly context: HandlerContext;
  /** Finds a question's answer. */
  readonly recall: Pick<Recall, 'read'>;
  /** Called before each resolver runs. */
  readonly onEntry: (resolver: string) => void;
}

/**
 * Fills every resolved parameter.
 *
 * Each resolver runs at most once, as soon as its needs are filled, concurrently with the others. So an entry takes as
 * long as its longest chain, and independent questions are asked together.
 *
 * @throws ElicitationDeclined when a question was refused and its consumer takes the plain value.
 */
export async function resolveArguments(
  parameters: readonly ResolvedParameter[],
  request: ResolutionRequest,
): Promise<ResolvedArguments> {
  const entry = new Resolution(request);
  const results = await Promise.all(parameters.map(({ resolver }) => entry.resultOf(resolver)));
  const refused = results.find((result, at) => isRefused(result, parameters[at]));
  if (refused && isRefusal(refused)) throw new ElicitationDeclined(refused.kind, entry.refusals.get(refused));
  if (results.includes(undefined)) return { open: inOrder(entry.open, request.resolvers) };
  const values = parameters.map(({ name, wantsOutcome }, at) => [name, valueFor(results[at], wantsOutcome)]);
  return { values: Object.fromEntries(values) as Record<string, unknown> };
}

/** Sorts questions by declaration, so that users do not see them in the order in which resolvers finish. */
function inOrder(open: ReadonlyMap<string, Question>, names: readonly string[]): Questions {
  const rank = ([key]: readonly [string, Question]) => names.findIndex((name) => isKeyOf(name, key));
  return Object.fromEntries([...open].sort((one, other) => rank(one) - rank(other)));
}

class Resolution {
  readonly open = new Map<string, Question>();
  /** The key of the refused question, for each refusal. */
  readonly refusals = new Map<FinalAnswer<unknown>, string>();
  readonly #request: ResolutionRequest;
  readonly #results = new Map<Resolver<unknown, never>, Promise<Result>>();

  constructor(request: ResolutionRequest) {
    this.#request = request;
  }

  /** Runs a resolver once, memoised by identity, and returns its result. */
  resultOf(resolver: Resolver<unknown, never>): Promise<Result> {
    const known = this.#results.get(resolver);
    if (known) return known;
    const result = this.#run(resolver);
    this.#results.set(resolver, result);
    return result;
  }

  async #run(resolver: Resolver<unknown, never>): Promise<Result> {
    const { toolArguments, context } = this.#request;
    const below = resolvedNeeds(resolver.needs);
    const results = await Promise.all(below.map(({ resolver: needed }) => this.resultOf(needed)));
    const needs: Record<string, unknown> = {};
    for (const [need, filler] of Object.entries(resolver.needs)) {
      if (filler.need === 'argument') needs[need] = ownEntry(toolArguments, filler.name ?? need);
      if (filler.need === 'context') needs[need] = context;
    }
    // A refusal passes from a resolver to each consumer of its plain value. It takes precedence over open questions, in
    // any order of declaration.
    const refused = results.find((result, at) => isRefused(result, below[at]));
    if (refused || results.includes(undefined)) return refused;
    for (const [at, { name, wantsOutcome }] of below.entries())
      needs[name] = valueFor(results[at], wantsOutcome);
    this.#request.onEntry(resolver.name);
    const value = await resolver.run(needs);
    if (isQuestion(value)) return this.#ask(wireKey(resolver.name), value);
    return isQuestions(value) ? this.#askAll(resolver.name, value) : { kind: 'accepted', value };
  }

  #askAll(name: string, questions: Questions): Result {
    const results = Object.entries(questions).map(
      ([key, question]) => [key, this.#ask(wireKey(name, key), question)] as const,
    );
    const refused = results.find(([, result]) => result && isRefusal(result))?.[1];
    if (refused || results.some(([, result]) => result === undefined)) return refused;
    const values = results.map(([key, result]) => [key, valueFor(result, false)]);
    return { kind: 'accepted', value: Object.fromEntries(values) };
  }

  // Only this line reads a recorded answer, after the resolver has asked in the same words. So a client's answer can
  // never replace a computed value.
  #ask(name: string, question: Question): Result {
    const answer = this.#request.recall.read(name, question);
    if (isRefusal(answer)) this.refusals.set(answer, name);
    if (answer.kind === 'accepted' || isRefusal(answer)) return answer;
    this.open.set(name, question);
    return undefined;
  }
}

const valueFor = (result: Result, wantsOutcome: boolean): unknown =>
  wantsOutcome ? result : result?.kind === 'accepted' ? result.value : undefined;

const isRefused = (result: Result, consumer: ResolvedParameter | undefined): boolean =>
  result !== undefined && isRefusal(result) && !consumer?.wantsOutcome;
