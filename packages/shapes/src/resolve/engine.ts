/** `@mrtr/shapes/resolve/engine`: what runs the resolvers of shape I, for a framework of your own. */
export {
  buildResolverPlans,
  findResolvedParameters,
  type ResolvedParameter,
  type ResolverPlans,
} from './plan.ts';
export { resolveArguments } from './resolve-arguments.ts';
