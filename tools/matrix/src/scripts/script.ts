/** Scripts: handlers described without a shape. Each option writes them in its own shape. */
import type { Kept } from '@mrtr/comparison/options';
import type { InputKind, Question, Questions } from '@mrtr/core';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
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

export type Step = Ask | Effect;

/** The steps' results, by key. */
export type Data = Readonly<Record<string, unknown>>;

/** Guards an effect at the end, in shapes with a guard. */
export type Guard = <T>(key: string, run: () => Promise<T>) => Promise<T>;

/** A handler's steps and result. */
export interface Script<R extends CompleteResult = CompleteResult> {
  readonly steps: readonly Step[];
  end(data: Data, guard: Guard): R | Promise<R>;
  /** The result after a refusal, in shapes whose author reads refusals. */
  refused(key: string): R;
}

/** Makes a script into a callback. `kept` is what the instance keeps, for a shape whose calls outlive a request. */
export type Write = <R extends CompleteResult>(
  script: Script<R>,
  kept?: Kept,
) => SdkCallback<Record<string, never>, R>;

export const isAsk = (step: Step): step is Ask => 'asks' in step;
const isEffect = (step: Step): step is Effect => 'does' in step;

/** The questions of a step for this client, by their keys. */
export const questionsOf = (
  { asks, ifAskable }: Ask,
  canAsk: (kind: InputKind) => boolean,
): readonly (readonly [string, Question])[] =>
  Object.entries(asks).filter(([, { kind }]) => !ifAskable || canAsk(kind));

/** A context whose questions wait for their answers, and whose effects are guarded. */
interface WaitingContext {
  canAsk(kind: InputKind): boolean;
  ask(questions: Questions): Promise<object>;
  once<T>(key: string, effect: () => Promise<T>, options?: { readonly schema?: z.ZodType<T> }): Promise<T>;
}

/** Runs the steps of a script in order, for H and J. */
export async function runInOrder<R extends CompleteResult>(
  { steps, end }: Script<R>,
  ctx: WaitingContext,
): Promise<R> {
  const data: Record<string, unknown> = {};
  for (const step of steps) {
    if (isAsk(step)) Object.assign(data, await ctx.ask(Object.fromEntries(questionsOf(step, ctx.canAsk))));
    else data[step.does] = await ctx.once(step.does, step.run, { schema: step.schema });
  }
  return end(data, (key, run) => ctx.once(key, run));
}

/** Ends a script in a shape without a guard: all effects run below the questions. */
export async function endUnguarded<R extends CompleteResult>(script: Script<R>, answers: Data): Promise<R> {
  const data: Record<string, unknown> = { ...answers };
  for (const { does, run } of script.steps.filter(isEffect)) data[does] = await run();
  return script.end(data, (_key, run) => run());
}
