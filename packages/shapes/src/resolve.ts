/** `@mrtr/shapes/resolve`: shape I. */
export { type InjectedContext, injected, injectedResource } from './resolve/injected.ts';
export {
  buildResolverPlans,
  findResolvedParameters,
  type ResolvedParameter,
  type ResolverPlan,
  type ResolverPlans,
} from './resolve/plan.ts';
export {
  type ResolutionRequest,
  type ResolvedArguments,
  resolveArguments,
} from './resolve/resolve-arguments.ts';
export {
  Argument,
  Ask,
  argument,
  elicit,
  type Filled,
  type FilledAll,
  listRoots,
  type Needs,
  Outcome,
  outcome,
  RequestContext,
  type Resolvable,
  Resolver,
  requestContext,
  resolver,
  sample,
  type ValueOf,
} from './resolve/resolver.ts';
