/** Static analysis: finds the mistakes in a tool's resolvers before the tool is called. */
import { MrtrError } from '@mrtr/core';
import type { Needs, Resolvable, Resolver } from './resolver.ts';

/** A parameter of a tool, or a need of a resolver, that a resolver fills. */
export interface ResolvedParameter {
  readonly name: string;
  readonly resolver: Resolver<unknown, never>;
  /** Whether the consumer takes the whole outcome. Then a refusal does not end the call. */
  readonly wantsOutcome: boolean;
}

/**
 * The parameters that resolvers fill, and whether each takes the plain value or the outcome.
 *
 * @throws InvalidSignature naming a parameter that is neither a resolver nor an outcome.
 */
export const findResolvedParameters = (
  params: Readonly<Record<string, Resolvable<never>>>,
): readonly ResolvedParameter[] =>
  Object.entries(params).map(([name, wanted]) => {
    if (!isResolvable(wanted)) throw new InvalidSignature(unfillable([name], 'resolver or outcome(...)'));
    return resolvedParameter(name, wanted);
  });

/** All resolvers that a tool needs, each after those that it needs itself, with these needs. */
export type ResolverPlans = ReadonlyMap<Resolver<unknown, never>, readonly ResolvedParameter[]>;

/**
 * Analyses the graph of resolvers below a tool's parameters.
 *
 * @param toolArguments the names in the tool's input schema.
 * @throws InvalidSignature naming the path, for an argument that is not in the input schema, for two resolvers of one
 * name, for a cycle, and for a need that nothing can fill.
 */
export function buildResolverPlans(
  resolved: readonly ResolvedParameter[],
  toolArguments: ReadonlySet<string>,
): ResolverPlans {
  const plans = new Map<Resolver<unknown, never>, readonly ResolvedParameter[]>();
  const named = new Map<string, { resolver: Resolver<unknown, never>; path: readonly string[] }>();

  const visit = (resolver: Resolver<unknown, never>, path: readonly string[]) => {
    const here = [...path, resolver.name];
    const namesake = named.get(resolver.name);
    if (namesake && namesake.resolver !== resolver)
      throw new InvalidSignature(
        `Two different resolvers are named '${resolver.name}' (${joinPath(namesake.path)}, and ${joinPath(here)}). ` +
          'Answers are kept by name: rename one of them.',
      );
    // A resolver is declared after its needs. A cycle is made by changing the needs later.
    if (namesake && !plans.has(resolver))
      throw new InvalidSignature(
        `${joinPath(here)} is a cycle: '${resolver.name}' needs its own value, so it can never run. Take out one need.`,
      );
    if (namesake) return;
    named.set(resolver.name, { resolver, path: here });
    requireFillable(resolver.needs, here, toolArguments);
    const needed = Object.entries(resolver.needs).flatMap(([name, filler]) =>
      isResolvable(filler) ? [resolvedParameter(name, filler)] : [],
    );
    for (const { resolver } of needed) visit(resolver, here);
    plans.set(resolver, needed);
  };

  for (const { name, resolver } of resolved) visit(resolver, [name]);
  return plans;
}

function requireFillable(needs: Needs, path: readonly string[], toolArguments: ReadonlySet<string>) {
  for (const [need, filler] of Object.entries(needs)) {
    if (isResolvable(filler) || filler?.need === 'context') continue;
    if (filler?.need !== 'argument') {
      const fillers = 'resolver, outcome(...), argument() or requestContext()';
      throw new InvalidSignature(unfillable([...path, need], fillers));
    }
    const { name = need } = filler;
    if (!toolArguments.has(name))
      throw new InvalidSignature(unknownArgument(name, [...path, need], toolArguments));
  }
}

// Not by `instanceof`: a resolver may be of another copy of this package.
const isResolvable = (wanted: unknown): wanted is Resolvable<never> => {
  const given = wanted as Resolvable<never> | undefined;
  return (given?.need === 'outcome' ? given.resolver : given)?.need === 'resolver';
};

const resolvedParameter = (name: string, wanted: Resolvable<never>): ResolvedParameter =>
  wanted.need === 'outcome'
    ? { name, resolver: wanted.resolver, wantsOutcome: true }
    : { name, resolver: wanted, wantsOutcome: false };

const unknownArgument = (name: string, path: readonly string[], known: ReadonlySet<string>) =>
  `${joinPath(path)} needs the argument '${name}', which the tool's input schema does not have. ` +
  `It has: ${[...known].join(', ') || 'none'}.`;

const unfillable = (path: readonly string[], fillers: string) =>
  `${joinPath(path)} is not a ${fillers}, so nothing can fill it.`;

const joinPath = (path: readonly string[]) => path.join(' → ');

/** A tool's resolvers cannot work as declared. Thrown while the tool is built, if it can be detected then. */
export class InvalidSignature extends MrtrError {
  static override readonly code = 'invalid_signature';
}
