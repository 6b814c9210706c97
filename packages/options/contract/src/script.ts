/** A handler, described without any shape. Each option writes it as an author of its shape would. */
import type { InputKind, Question, Questions } from '@mrtr/core';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import type { z } from 'zod';

/** A step that asks one round's questions. */
export interface Ask {
  readonly asks: Questions;
  /** Whether it leaves out the questions that the client cannot be asked. */
  readonly ifAskable?: boolean;
}

/** A step with an effect. A shape that can guards it, under its key; another one runs it below the questions. */
export interface Effect {
  readonly does: string;
  readonly schema: z.ZodType;
  run(): Promise<unknown>;
}

export type Step = Ask | Effect;

/** What the steps gave, by their keys. */
export type Data = Readonly<Record<string, unknown>>;

/** Guards an effect of the end, in the shapes that can. */
export type Guard = <T>(key: string, run: () => Promise<T>) => Promise<T>;

/** The steps of a handler, and its result. */
export interface Script<R extends CompleteResult = CompleteResult> {
  readonly steps: readonly Step[];
  end(data: Data, guard: Guard): R | Promise<R>;
  /** The result after a refusal, in the shapes whose author reads it. */
  refused(key: string): R;
}

/** Makes a script into a callback. */
export type Write = <R extends CompleteResult>(script: Script<R>) => SdkCallback<Record<string, never>, R>;

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

/** Takes the steps of a script one after the other. H and J write a script so. */
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

/** Ends a script in a shape without a guard: its effects run below all its questions. */
export async function endUnguarded<R extends CompleteResult>(script: Script<R>, answers: Data): Promise<R> {
  const data: Record<string, unknown> = { ...answers };
  for (const { does, run } of script.steps.filter(isEffect)) data[does] = await run();
  return script.end(data, (_key, run) => run());
}
