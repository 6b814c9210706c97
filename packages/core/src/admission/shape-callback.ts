/** Makes a shape's handler into a callback that the SDK can register. */
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { InvalidDefinition } from '../errors.ts';
import { type Call, callOf } from '../wire/call.ts';
import type { InputKind } from '../wire/input-kind.ts';
import type { CompleteResult, SdkCallback } from '../wire/wire.ts';
import { runShape } from './handler-entry.ts';
import { SHAPE, withNotes } from './shape-notes.ts';

/** Serves one request of a call. */
export type Serve<Input, R> = (
  input: Input,
  ctx: ServerContext,
  call: Call,
) => Promise<R | InputRequiredResult>;

/** What a shape is, for the server. */
export interface ShapeParts {
  /** For observers. */
  readonly name: string;
  /** The kinds of input that its handler needs. A client that cannot be asked for all of them is rejected before `serve`. */
  readonly asks?: readonly InputKind[] | undefined;
  /**
   * Whether it serves each token once by itself, on all instances. Then it gets every retry, because the server's ledger
   * gives no lease. Default false.
   */
  readonly servesTokensOnce?: boolean | undefined;
}

/** A shape's parts, and its own callback: a copy of the callback's members, or a proxy of it, is no shape. */
interface Shape extends ShapeParts {
  readonly callback: unknown;
}

/**
 * Makes an SDK callback for a tool, a prompt or a resource. Without a schema the SDK hands over the context alone; the
 * input is then an empty object. For a resource with a template the input is `{ uri, variables }`.
 */
export function shapeCallback<Input, R extends CompleteResult>(
  shape: string | ShapeParts,
  serve: Serve<Input, R>,
): SdkCallback<Input, R> {
  const parts: ShapeParts = typeof shape === 'string' ? { name: shape } : shape;
  const { name, asks = [] } = parts;
  const enter = (given: readonly unknown[], ctx: ServerContext) => {
    const call = callOf(ctx);
    const lacked = asks.filter((kind) => !call.askable.includes(kind));
    if (lacked.length > 0)
      return withNotes({ resultType: 'input_required' } as InputRequiredResult, { lacked, notEntered: true });
    return serve(inputOf(given) as Input, ctx, call);
  };
  const requireShapeResult = <T>(result: T) => requireResult(name, result);
  const callback = (...given: unknown[]) => {
    const ctx = given.at(-1) as ServerContext;
    return runShape(ctx, callback, () => enter(given, ctx), requireShapeResult);
  };
  const made: Shape = { ...parts, callback };
  return Object.assign(callback, { [SHAPE]: made }) as SdkCallback<Input, R>;
}

function inputOf([first, second, third]: readonly unknown[]) {
  if (second === undefined) return {};
  return third === undefined ? first : { uri: first, variables: second };
}

/**
 * Returns the result of a handler. Without this check a bare string, or nothing, would fail far from the mistake.
 *
 * @throws InvalidDefinition for a value that is no result.
 */
export function requireResult<R>(what: string, result: R): R {
  if (typeof result === 'object' && result !== null) return result;
  throw new InvalidDefinition(
    `The ${what} handler returned ${result === null ? 'null' : `a value of type ${typeof result}`}. Return a result, ` +
      "for example textResult('Done.').",
  );
}

/** The shape that made `callback`; undefined for the author's own function. */
export function shapeOf(callback: unknown): ShapeParts | undefined {
  const shape = (callback as { [SHAPE]?: Shape } | undefined)?.[SHAPE];
  return shape?.callback === callback ? shape : undefined;
}

/** Whether `callback` serves each token once by itself. */
export const servesTokensOnce = (callback: unknown) => shapeOf(callback)?.servesTokensOnce === true;
