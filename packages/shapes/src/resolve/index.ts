/** `@mrtr/shapes/resolve`: shape I. */
export type { HandlerContext, LogLevel } from '../kit/handler-context.ts';
export { InvalidSignature } from './plan.ts';
export { resolve, resolveResource } from './resolve.ts';
export {
  Argument,
  type ArgumentsOf,
  argument,
  type Filled,
  type FilledAll,
  type Needs,
  Outcome,
  outcome,
  RequestContext,
  type Resolvable,
  Resolver,
  requestContext,
  resolver,
  type ValueOf,
} from './resolver.ts';
