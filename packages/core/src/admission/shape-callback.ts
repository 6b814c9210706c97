/** Makes a shape's handler into a callback that the SDK can register. */
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { InvalidDefinition } from '../support/errors.ts';
import { type Call, callOf } from '../wire/call.ts';
import type { CompleteResult, SdkCallback } from '../wire/wire.ts';

const SHAPE = Symbol.for('mrtr.shape');
const ROUTING_LABEL = Symbol.for('mrtr.routing-label');

/** Serves one request of a call. */
export type Serve<Input, R> = (
  input: Input,
  ctx: ServerContext,
  call: Call,
) => Promise<R | InputRequiredResult>;

/**
 * Makes an SDK callback for a tool, a prompt or a resource. Without a schema the SDK hands over the context alone; the
 * input is then an empty object. For a resource with a template the input is `{ uri, variables }`.
 *
 * @param shape the shape's name, for observers.
 */
export function shapeCallback<Input, R extends CompleteResult>(
  shape: string,
  serve: Serve<Input, R>,
): SdkCallback<Input, R> {
  const callback = async (...given: unknown[]) => {
    const ctx = given.at(-1) as ServerContext;
    const result = await serve(inputOf(given) as Input, ctx, callOf(ctx));
    if (typeof result === 'object' && result !== null) return result;
    throw notAResult(shape, result);
  };
  return Object.assign(callback, { [SHAPE]: shape }) as SdkCallback<Input, R>;
}

function inputOf([first, second, third]: readonly unknown[]): unknown {
  if (second === undefined) return {};
  return third === undefined ? first : { uri: first, variables: second };
}

/** The error for a handler that returned no result. */
export const notAResult = (what: string, result: unknown): InvalidDefinition =>
  new InvalidDefinition(
    `The ${what} handler returned ${result === null ? 'null' : `a value of type ${typeof result}`}. Return a result, ` +
      "for example textResult('Done.').",
  );

/** The name of the shape that made `callback`; undefined for the author's own function. */
export const shapeOf = (callback: unknown): string | undefined =>
  (callback as { [SHAPE]?: string } | undefined)?.[SHAPE];

/**
 * The same result, whose sealed state will end in `~label`. The server's own router can then send the next round to the
 * instance that the label names. Anyone can read the label; nobody can change it.
 */
export const withRoutingLabel = (
  result: InputRequiredResult,
  label: string | undefined,
): InputRequiredResult => (label === undefined ? result : Object.assign(result, { [ROUTING_LABEL]: label }));

/** The label that {@link withRoutingLabel} set. */
export const routingLabelOf = (result: InputRequiredResult): string | undefined =>
  (result as { [ROUTING_LABEL]?: string })[ROUTING_LABEL];
