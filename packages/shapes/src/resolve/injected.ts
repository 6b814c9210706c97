/**
 * Shape I: parameters that resolvers fill, before the author's body runs and never from the caller's arguments.
 *
 * The body is entered once per call, in the round in which everything is there. Resolvers run in each round.
 * Only answers travel in `requestState`, each pinned to its question; whatever a resolver computes is computed anew.
 */
import {
  type CompleteResult,
  callOf,
  ElicitationDeclined,
  endCall,
  InvalidSignature,
  inputRequired,
  isInputRequiredResult,
  publish,
  type SdkCallback,
  type ServerContext,
  type StandardSchemaV1,
  type StandardSchemaWithJSON,
} from '@mrtr/core';
import { Idempotency } from '../idempotency.ts';
import { Recall } from '../recall.ts';
import { loadState, saveState } from '../shape.ts';
import { buildResolverPlans, findResolvedParameters } from './plan.ts';
import { type ResolvedArguments, resolveArguments } from './resolve-arguments.ts';
import type { FilledAll, Resolvable } from './resolver.ts';

const TAG = 'resolve/1';

type Params = Readonly<Record<string, Resolvable>>;

/** The SDK's context, for the body, which runs in one round only. */
export type InjectedContext = ServerContext & {
  /**
   * A key to hand to whoever performs the effect `key` elsewhere, so that it is done once even if this process dies in
   * the middle: the same on every instance for a round that is presented again.
   */
  idempotencyKey(key: string): string;
};

/**
 * Makes a body and its resolvers into an SDK callback for a tool or a prompt.
 *
 * @param inputSchema what the caller gives: the schema that the tool is registered with. Injected parameters are not
 * in it, so they are not advertised; what a caller sends under their names is overwritten.
 * @param params the injected parameters: `name: resolver` for the plain value, where a decline or cancel ends the call
 * with an error; `name: outcome(resolver)` to decide in the body.
 * @param body gets the caller's arguments and the injected ones in one object.
 * @throws InvalidSignature when the declarations cannot work; see {@link buildResolverPlans}. Nothing is registered.
 * @example
 * server.registerTool('get_weather', { inputSchema }, injected(inputSchema, { units }, ({ location, units }) => …));
 */
export function injected<S extends StandardSchemaWithJSON, P extends Params, R extends CompleteResult>(
  inputSchema: S,
  params: P,
  body: (
    args: Omit<StandardSchemaV1.InferOutput<S>, keyof P> & FilledAll<P>,
    ctx: InjectedContext,
  ) => R | Promise<R>,
): SdkCallback<StandardSchemaV1.InferOutput<S>, R> {
  return inject(argumentNames(inputSchema), params, body as Body<R>);
}

/**
 * The same for a resource. It has no input schema; its one argument is `uri`, the URL that is read: the body gets it,
 * and a resolver may need it (`argument<URL>('uri')`).
 *
 * @throws InvalidSignature as {@link injected} does.
 * @example
 * server.registerResource('report', 'report://quarterly', {}, injectedResource({ currency }, ({ uri, currency }) => …));
 */
export function injectedResource<P extends Params, R extends CompleteResult>(
  params: P,
  body: (args: { readonly uri: URL } & FilledAll<P>, ctx: InjectedContext) => R | Promise<R>,
): SdkCallback<URL, R> {
  const read = inject(new Set(['uri']), params, body as Body<R>);
  return (uri, ctx) => read({ uri }, ctx);
}

type Body<R> = (args: Readonly<Record<string, unknown>>, ctx: InjectedContext) => R | Promise<R>;

function inject<R extends CompleteResult>(
  names: ReadonlySet<string>,
  params: Params,
  body: Body<R>,
): SdkCallback<unknown, R> {
  const resolved = findResolvedParameters(params);
  for (const name of resolved.keys()) {
    if (names.has(name)) {
      throw new InvalidSignature(
        `'${name}' is injected and also in the input schema, so callers would be told to send what is discarded. ` +
          'Take it out of the schema.',
      );
    }
  }
  const plans = buildResolverPlans(resolved, names);
  return async (input, ctx) => {
    const call = callOf(ctx, 'resolve');
    const recall = new Recall(ctx, loadState(ctx, TAG));
    publish('mrtr:handler', { shape: 'resolve', target: call.target });
    const toolArguments = input as Readonly<Record<string, unknown>>;
    let filled: ResolvedArguments;
    try {
      filled = await resolveArguments(resolved, plans, { toolArguments, ctx, recall });
    } catch (error) {
      if (!(error instanceof ElicitationDeclined)) throw error;
      return endCall(call, `${error.message} The call was given up; nothing was done.`) as R;
    }
    if ('open' in filled) {
      const asked = inputRequired({ inputRequests: filled.open });
      return { ...asked, requestState: saveState(TAG, recall.save(filled.open)) };
    }
    const idempotency = new Idempotency(call);
    const injectedContext = { ...ctx, idempotencyKey: (key: string) => idempotency.key(key) };
    const result = await body({ ...toolArguments, ...filled.values }, injectedContext);
    if (!isInputRequiredResult(result)) return result;
    throw new InvalidSignature(
      `'${call.target}' declares resolvers and also returned input_required by hand. Its state is the resolvers': ` +
        'let one of them ask.',
    );
  };
}

function argumentNames(schema: StandardSchemaWithJSON): ReadonlySet<string> {
  const { properties } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  return new Set(Object.keys((properties ?? {}) as object));
}
