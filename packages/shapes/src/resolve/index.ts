/** `@mrtr/shapes/resolve`: shape I. */
export { InvalidSignature } from './plan.ts';
export { resolve, resolveResource } from './resolve.ts';
export {
  Argument,
  argument,
  type Needs,
  Outcome,
  outcome,
  RequestContext,
  type Resolvable,
  Resolver,
  requestContext,
  resolver,
} from './resolver.ts';
