/** Outlines: handlers described without a shape. Each shape has one writer, which writes any outline in that shape. */
import type { CallStore } from '@mrtr/comparison/options';
import type { InputKind, Question, Questions } from '@mrtr/core';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import type { HandlerContext } from '@mrtr/shapes';
import type { OnceContext } from '@mrtr/shapes/once';
import type { z } from 'zod';

/** A step that asks one round's questions. */
export interface Ask {
  readonly asks: Questions;
  /** Whether to leave out questions that the client cannot be asked. */
  readonly ifAskable?: boolean;
}

/** A step with an effect. A shape with a guard runs it under its key; another shape runs it below the questions. */
export interface Effect {
  readonly does: string;
  readonly schema: z.ZodType;
  run(): Promise<unknown>;
}

/** The steps' results, by key. */
export type Data = Readonly<Record<string, unknown>>;

/** The author's context, with `once` in shapes that guard effects. */
export type AuthorContext = Omit<HandlerContext, 'request'> & { readonly once?: OnceContext['once'] };

/** A handler's steps and result. In a shape whose handlers get the SDK's context, no function gets a `ctx`. */
export interface Outline<R extends CompleteResult = CompleteResult> {
  readonly steps: readonly (Ask | Effect)[];
  /** The option `asks`, in shapes that have it. */
  readonly asks?: readonly InputKind[] | undefined;
  /** The author's code above the questions. Runs wherever the shape enters code that asks. */
  above?(ctx?: AuthorContext): unknown;
  /** The author's code below the questions, which makes the result. */
  end(data: Data, ctx?: AuthorContext): R | Promise<R>;
  /** The result after a refusal, in shapes whose author reads refusals. */
  refused(key: string): R;
}

/** Makes an outline into a callback. `store` is the instance's, for a shape whose calls outlive a request. */
export type Write = <R extends CompleteResult>(
  outline: Outline<R>,
  store?: CallStore,
) => SdkCallback<Record<string, never>, R>;

/** Makes an outline into a resource's callback. */
export type WriteResource = <R extends CompleteResult>(
  outline: Outline<R>,
  store?: CallStore,
) => SdkCallback<URL, R>;

export const isAsk = <S extends object>(step: S): step is Extract<S, Ask> => 'asks' in step;
export const isEffect = (step: Ask | Effect): step is Effect => 'does' in step;

/** The questions of a step for this client, by their keys. */
export const questionsOf = (
  { asks, ifAskable }: Ask,
  canAsk: (kind: InputKind) => boolean,
): readonly (readonly [string, Question])[] =>
  Object.entries(asks).filter(([, { kind }]) => !ifAskable || canAsk(kind));

/** Runs the steps of an outline in order, in a shape whose questions wait for their answers: H and J. */
export async function runInOrder<R extends CompleteResult>(
  { steps, above, end }: Outline<R>,
  ctx: Required<AuthorContext> & { ask(questions: Questions): Promise<object> },
) {
  await above?.(ctx);
  const data: Record<string, unknown> = {};
  for (const step of steps) {
    if (isAsk(step)) Object.assign(data, await ctx.ask(Object.fromEntries(questionsOf(step, ctx.canAsk))));
    else data[step.does] = await ctx.once(step.does, step.run, { schema: step.schema });
  }
  return end(data, ctx);
}

/** Ends an outline in a shape without a guard: all effects run below the questions. */
export async function endUnguarded<R extends CompleteResult>(
  outline: Outline<R>,
  answers: Data,
  ctx?: AuthorContext,
) {
  const data: Record<string, unknown> = { ...answers };
  for (const { does, run } of outline.steps.filter(isEffect)) data[does] = await run();
  return outline.end(data, ctx);
}
