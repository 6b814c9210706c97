/** `@mrtr/shapes/resolve`: shape I. */
export { InvalidSignature } from './plan.ts';
export { resolve, resolveResource } from './resolve.ts';
export {
  argument,
  type Needs,
  outcome,
  type Resolvable,
  Resolver,
  requestContext,
  resolver,
} from './resolver.ts';
