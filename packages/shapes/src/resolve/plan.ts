/** Static analysis: finds the mistakes in a tool's resolvers before the tool is called. */
import { MrtrError } from '@mrtr/core';
import type { Resolvable, Resolver } from './resolver.ts';

/** One resolver's needs, grouped by what fills them. */
export interface ResolverPlan {
  /** Name of the need → the tool's argument. */
  readonly arguments: ReadonlyMap<string, string>;
  /** Name of the need → the resolver, and whether the consumer wants its whole outcome. */
  readonly resolvers: ReadonlyMap<string, ResolvedParameter>;
  /** Names of the needs that take the request's context. */
  readonly contexts: readonly string[];
}

/** A parameter that a resolver fills. */
export interface ResolvedParameter {
  readonly resolver: Resolver<unknown>;
  /** Whether the consumer takes the whole outcome, and a refusal does not end the call. */
  readonly wantsOutcome: boolean;
}

/** The plans of all resolvers that a tool reaches, made once, when it is built. */
export type ResolverPlans = ReadonlyMap<Resolver<unknown>, ResolverPlan>;

/**
 * The parameters that resolvers fill, and whether each takes the plain value or the outcome.
 *
 * @throws InvalidSignature naming a parameter that is neither a resolver nor an outcome.
 */
export function findResolvedParameters(
  params: Readonly<Record<string, Resolvable>>,
): ReadonlyMap<string, ResolvedParameter> {
  const resolved = new Map<string, ResolvedParameter>();
  for (const [name, wanted] of Object.entries(params)) {
    if (!isResolvable(wanted)) throw new InvalidSignature(unfillable([name], 'resolver or outcome(...)'));
    resolved.set(name, resolvedParameter(wanted));
  }
  return resolved;
}

/**
 * Analyses the graph of resolvers below a tool's resolved parameters.
 *
 * @param toolArguments the names in the tool's input schema.
 * @throws InvalidSignature naming the path, for a needed argument that the input schema does not have, for two resolvers
 * of one name, and for a need that nothing can fill.
 */
export function buildResolverPlans(
  resolved: ReadonlyMap<string, ResolvedParameter>,
  toolArguments: ReadonlySet<string>,
): ResolverPlans {
  const plans = new Map<Resolver<unknown>, ResolverPlan>();
  const named = new Map<string, { resolver: Resolver<unknown>; path: readonly string[] }>();

  // A resolver can only need those that are declared before it, so there is no circle.
  const visit = (resolver: Resolver<unknown>, path: readonly string[]): void => {
    const here = [...path, resolver.name];
    const namesake = named.get(resolver.name);
    if (namesake && namesake.resolver !== resolver) {
      throw new InvalidSignature(
        `Two different resolvers are named '${resolver.name}' (${joinPath(namesake.path)}, and ${joinPath(here)}). ` +
          'Answers are kept by name: rename one of them.',
      );
    }
    if (plans.has(resolver)) return;
    named.set(resolver.name, { resolver, path: here });
    const plan = planOf(resolver, here, toolArguments);
    for (const { resolver: needed } of plan.resolvers.values()) visit(needed, here);
    plans.set(resolver, plan);
  };

  for (const [parameter, { resolver }] of resolved) visit(resolver, [parameter]);
  return plans;
}

function planOf(
  resolver: Resolver<unknown>,
  path: readonly string[],
  toolArguments: ReadonlySet<string>,
): ResolverPlan {
  const plan = {
    arguments: new Map<string, string>(),
    resolvers: new Map<string, ResolvedParameter>(),
    contexts: [] as string[],
  };
  for (const [need, filler] of Object.entries(resolver.needs)) {
    if (filler?.need === 'argument') {
      const name = filler.name ?? need;
      if (!toolArguments.has(name))
        throw new InvalidSignature(unknownArgument(name, [...path, need], toolArguments));
      plan.arguments.set(need, name);
    } else if (isResolvable(filler)) {
      plan.resolvers.set(need, resolvedParameter(filler));
    } else if (filler?.need === 'context') {
      plan.contexts.push(need);
    } else {
      const fillers = 'resolver, outcome(...), argument() or requestContext()';
      throw new InvalidSignature(unfillable([...path, need], fillers));
    }
  }
  return plan;
}

// Not by `instanceof`: a resolver may be of another copy of this package.
const isResolvable = (wanted: unknown): wanted is Resolvable => {
  const given = wanted as Resolvable | undefined;
  return (given?.need === 'outcome' ? given.resolver : given)?.need === 'resolver';
};

const resolvedParameter = (wanted: Resolvable): ResolvedParameter =>
  wanted.need === 'outcome'
    ? { resolver: wanted.resolver as Resolver<unknown>, wantsOutcome: true }
    : { resolver: wanted as Resolver<unknown>, wantsOutcome: false };

const unknownArgument = (name: string, path: readonly string[], known: ReadonlySet<string>): string =>
  `${joinPath(path)} needs the argument '${name}', which the tool's input schema does not have. ` +
  `It has: ${[...known].join(', ') || 'none'}.`;

const unfillable = (path: readonly string[], fillers: string): string =>
  `${joinPath(path)} is not a ${fillers}, so nothing can fill it.`;

const joinPath = (path: readonly string[]): string => path.join(' → ');

/** A tool's resolvers cannot work as they are declared. Thrown while the tool is built, where that can be seen. */
export class InvalidSignature extends MrtrError {
  static override readonly code = 'invalid_signature';
}
