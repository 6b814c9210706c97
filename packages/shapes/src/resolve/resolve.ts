/**
 * Shape I: resolvers fill parameters before the author's body runs, and never from the caller's arguments.
 *
 * The body is entered once per call, in the round that fills the last parameter. Resolvers run in each round. Only
 * answers travel in `requestState`, each with its question's digest. Other values are computed again in each round.
 *
 * After a deploy: a question that was reworded, narrowed or widened, or whose resolver was renamed, is asked again. The
 * answer of a removed resolver is dropped. No effect runs before the body, so none runs twice.
 */
import {
  isInputRequiredResult,
  type StandardSchemaV1,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import { ElicitationDeclined } from '@mrtr/core';
import { aFunction, type OptionCheck, requireArgument } from '@mrtr/core/internal';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import { endCancelled, publishEntry, shapeCallback } from '@mrtr/core/shape';
import { type HandlerContext, handlerContext } from '../kit/handler-context.ts';
import { Recall } from '../kit/recall.ts';
import { buildResolverPlans, findResolvedParameters, InvalidSignature } from './plan.ts';
import { type ResolvedArguments, resolveArguments } from './resolve-arguments.ts';
import { aRecordOf, type FilledAll, type Resolvable } from './resolver.ts';

const TAG = 'resolve/2';

type Params<Arguments> = Readonly<Record<string, Resolvable<Arguments>>>;

/**
 * Makes a body and its resolvers into an SDK callback for a tool or a prompt.
 *
 * @param inputSchema the tool's registered schema, without the injected parameters: clients do not see them, and a
 * caller's value under their names is overwritten.
 * @param params the injected parameters: `name: resolver` for the plain value, where a decline or cancel ends the call
 * with an error; `name: outcome(resolver)` to decide in the body.
 * @param body gets the caller's arguments and the injected ones in one object.
 * @throws InvalidOption when an argument is of the wrong kind.
 * @throws InvalidSignature when the declarations cannot work; see {@link buildResolverPlans}. Nothing is registered.
 * @example
 * server.registerTool('get_weather', { inputSchema }, resolve(inputSchema, { units }, ({ location, units }) => …));
 */
export function resolve<
  S extends StandardSchemaWithJSON,
  P extends Params<StandardSchemaV1.InferOutput<S>>,
  R extends CompleteResult,
>(
  inputSchema: S,
  params: P,
  body: (
    args: Omit<StandardSchemaV1.InferOutput<S>, keyof P> & FilledAll<P>,
    ctx: HandlerContext,
  ) => R | Promise<R>,
): SdkCallback<StandardSchemaV1.InferOutput<S>, R> {
  requireArgument('resolve', 'inputSchema', inputSchema, aToolSchema);
  requireDeclarations('resolve', params, body);
  return inject(argumentNames(inputSchema), params, body as Body<R>);
}

/**
 * The same for a resource, which has no input schema. Its only argument is `uri`, the requested URL: the body gets it,
 * and a resolver may need it (`argument<URL>('uri')`).
 *
 * @throws InvalidOption and InvalidSignature like {@link resolve}.
 * @example
 * server.registerResource('report', 'report://quarterly', {}, resolveResource({ currency }, ({ uri, currency }) => …));
 */
export function resolveResource<P extends Params<{ readonly uri: URL }>, R extends CompleteResult>(
  params: P,
  body: (args: { readonly uri: URL } & FilledAll<P>, ctx: HandlerContext) => R | Promise<R>,
): SdkCallback<URL, R> {
  requireDeclarations('resolveResource', params, body);
  return inject(new Set(['uri']), params, body as Body<R>, argumentsOfResource);
}

const aToolSchema: OptionCheck = {
  allowed: 'a Standard Schema that has a JSON Schema',
  isAllowed: (value) =>
    typeof (value as Partial<StandardSchemaWithJSON> | null | undefined)?.['~standard']?.jsonSchema?.input ===
    'function',
};

function requireDeclarations(owner: string, params: unknown, body: unknown) {
  requireArgument(owner, 'params', params, aRecordOf('a resolver for each parameter'));
  requireArgument(owner, 'body', body, aFunction);
}

/** The arguments of a resource: its URL, and the variables of its template. */
const argumentsOfResource = (input: unknown): unknown =>
  input instanceof URL
    ? { uri: input }
    : { ...(input as { variables: object }).variables, ...(input as object) };

type Body<R> = (args: Readonly<Record<string, unknown>>, ctx: HandlerContext) => R | Promise<R>;

function inject<R extends CompleteResult>(
  names: ReadonlySet<string>,
  params: Params<never>,
  body: Body<R>,
  argumentsOf: (input: unknown) => unknown = (input) => input,
) {
  const resolved = findResolvedParameters(params);
  for (const { name } of resolved) {
    if (names.has(name))
      throw new InvalidSignature(
        `'${name}' is injected and also in the input schema, so callers would send a value that is discarded. ` +
          'Take it out of the schema.',
      );
  }
  const plans = buildResolverPlans(resolved, names);
  const resolvers = [...plans.keys()].map(({ name }) => name);
  return shapeCallback<unknown, R>('resolve', async (input, ctx, call) => {
    const [recall, context] = [new Recall(ctx, TAG), handlerContext(ctx)];
    const toolArguments = argumentsOf(input) as Readonly<Record<string, unknown>>;
    let filled: ResolvedArguments;
    try {
      filled = await resolveArguments(resolved, plans, toolArguments, { context, recall });
    } catch (error) {
      if (!(error instanceof ElicitationDeclined)) throw error;
      return { ...endCancelled(call, error.key), isError: true } as unknown as R;
    }
    if ('open' in filled) return recall.ask(filled.open, resolvers);
    publishEntry(call, 'resolve', 'body');
    const result = await body({ ...toolArguments, ...filled.values }, context);
    if (!isInputRequiredResult(result)) return result;
    throw new InvalidSignature(
      `'${call.target}' declares resolvers and also returned input_required by hand. Its state is the resolvers': ` +
        'let one of them ask.',
    );
  });
}

/** The names in a tool's input schema. A factory may make the tool anew for each request, always of one schema. */
function argumentNames(schema: StandardSchemaWithJSON) {
  let names = knownNames.get(schema);
  if (!names) {
    const { properties } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
    names = new Set(Object.keys((properties ?? {}) as object));
    knownNames.set(schema, names);
  }
  return names;
}

const knownNames = new WeakMap<StandardSchemaWithJSON, ReadonlySet<string>>();
