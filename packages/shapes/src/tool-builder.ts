/**
 * Shape G: a tool in named steps. Incomplete steps ask, or compute; the end step runs once, when every step
 * before it has its data. There is no "above the guard", because there is no guard.
 */
import {
  type AnswerOf,
  type Answers,
  type CompleteResult,
  callOf,
  canAsk,
  endCancelled,
  type InputKind,
  type InputRequests,
  type InputRequiredResult,
  InvalidDefinition,
  inputRequired,
  isRefusal,
  publish,
  type Question,
  type Questions,
  type SdkCallback,
  type ServerContext,
} from '@mrtr/core';
import { Idempotency } from './idempotency.ts';
import { assertJson, copyJson } from './json.ts';
import { Recall } from './recall.ts';
import { bareRecord, loadState, saveState } from './shape.ts';

const TAG = 'tool-builder/1';

/** What {@link StepContext.ask} returns: the step's data will be `Answered`, once its questions are answered. */
export class Asking<Answered> {
  /** Only a type: keeps what the step will have apart from what another would. */
  declare readonly answered: Answered;
  readonly questions: Questions;
  /** The key of the only question, when it was asked alone. */
  readonly only: string | undefined;
  constructor(questions: Questions, only?: string) {
    this.questions = questions;
    this.only = only;
  }
}

/** What a step gets beside the arguments and the data of the steps before it. */
export interface StepContext {
  /** Return this to ask one question. The step's data is then the accepted answer. A decline ends the call. */
  ask<Q extends Question>(question: Q): Asking<AnswerOf<Q>>;
  /**
   * Return this to ask several in one round. The step's data is then the accepted answers, by key. On the wire a
   * key has the step's name before it, as in `ship.address`.
   */
  ask<Q extends Questions>(questions: Q): Asking<Answers<Q>>;
  /** Whether this request's client can be asked; see `canAsk` of `@mrtr/core`. */
  canAsk(kind: InputKind): boolean;
  /**
   * A key to hand to whoever performs the effect `key` elsewhere, so that it is done once even if this process dies
   * before it can record it: the same in every round, on every instance, and for a round that is presented again.
   */
  idempotencyKey(key: string): string;
  /** The SDK's context of this round. */
  readonly request: ServerContext;
}

/** The data of a step whose function returns `R`. */
export type StepData<R> = R extends Asking<infer Answered> ? Answered : R;

type Data = Readonly<Record<string, unknown>>;
type AnyStep = (input: unknown, data: Data, ctx: StepContext) => unknown;
type NoSteps = Record<never, never>;

/** A finished definition: all that is left to do is to build it. */
export interface FinishedTool<Input, R extends CompleteResult> {
  /** The SDK callback, for `registerTool`, `registerPrompt` or `registerResource`. */
  build(): SdkCallback<Input, R>;
}

/**
 * Defines a tool step by step. A builder is never changed: each method returns the next one.
 *
 * A step that returns plain data runs once in a call, and its data, which has to be JSON, travels in
 * `requestState`. A step that asks runs in each round until the end, so that its question can be compared with
 * the one that was answered: keep effects out of it, and in the end step.
 *
 * @throws InvalidDefinition from the method that makes the definition wrong, and from `build()` without an end
 * step.
 * @example
 * const deploy = new ToolBuilder<{ env: string }>()
 *   .incompleteStep('confirm', ({ env }, _, step) => step.ask(elicitation(`Deploy to ${env}?`, YesNo)))
 *   .endStep(async ({ env }, { confirm }) => textResult(confirm.yes ? await run(env) : 'Left alone.'))
 *   .build();
 */
export class ToolBuilder<Input, D extends Data = NoSteps> {
  readonly #steps: ReadonlyMap<string, AnyStep>;
  readonly #end: AnyStep | undefined;

  constructor(steps: ReadonlyMap<string, AnyStep> = new Map(), end?: AnyStep) {
    this.#steps = steps;
    this.#end = end;
  }

  /**
   * Adds a step. Its data reaches the later steps as `data[name]`.
   *
   * @param name also names the step in requests under way: renamed, it is asked again; moved, it keeps its data.
   * @param step returns `ctx.ask(...)`, or data; at once or as a promise.
   */
  incompleteStep<const Name extends string, const R>(
    name: Name extends keyof D ? never : Name,
    step: (input: Input, data: D, ctx: StepContext) => R | Promise<R>,
  ): ToolBuilder<Input, D & { readonly [K in Name]: StepData<R> }> {
    if (this.#end) {
      throw new InvalidDefinition(
        `Step '${name}' comes after endStep, where nothing would run it. Move it before.`,
      );
    }
    if (this.#steps.has(name)) {
      throw new InvalidDefinition(
        `There are two steps named '${name}'. Data is kept by name: rename one of them.`,
      );
    }
    return new ToolBuilder(new Map(this.#steps).set(name, step as AnyStep));
  }

  /** Sets the step that makes the result. It runs once, with the data of all steps. Effects belong here. */
  endStep<R extends CompleteResult>(
    step: (input: Input, data: D, ctx: Omit<StepContext, 'ask'>) => R | Promise<R>,
  ): FinishedTool<Input, R> {
    if (this.#end)
      throw new InvalidDefinition('There are two end steps. One of them would never run: remove it.');
    return new ToolBuilder<Input, D>(this.#steps, step as AnyStep) as unknown as FinishedTool<Input, R>;
  }

  /** The SDK callback. */
  build(): SdkCallback<Input, CompleteResult> {
    const [steps, end] = [this.#steps, this.#end];
    if (!end)
      throw new InvalidDefinition('The tool has no endStep, so nothing would make its result. Add one.');
    return (input, ctx) => runSteps(steps, end, input, ctx);
  }
}

async function runSteps(
  steps: ReadonlyMap<string, AnyStep>,
  end: AnyStep,
  input: unknown,
  ctx: ServerContext,
) {
  const call = callOf(ctx, 'tool-builder');
  const saved = loadState(ctx, TAG);
  const finished = bareRecord<readonly unknown[]>(saved?.d);
  const questions = new StepQuestions(new Recall(ctx, saved));
  const idempotency = new Idempotency(call, saved?.i);
  const data: Record<string, unknown> = bareRecord(undefined);
  publish('mrtr:handler', { shape: 'tool-builder', target: call.target });
  for (const [name, step] of steps) {
    const known = finished[name];
    const outcome = known ? known[0] : await step(input, data, stepContext(name, ctx, idempotency));
    if (outcome instanceof Asking) {
      const answers = questions.read(name, outcome);
      if (answers === 'refused') return endCancelled(call);
      if ('asked' in answers) {
        const kept = { ...questions.save(answers.asked), d: finished, i: idempotency.save() };
        return { ...answers.asked, requestState: saveState(TAG, kept) };
      }
      data[name] = answers.data;
    } else {
      assertJson(outcome, `The data of step '${name}'`);
      finished[name] = outcome === undefined ? [] : [outcome];
      // A copy: a later step that changes it must not change the record.
      data[name] = copyJson(outcome);
    }
  }
  return (await end(input, data, stepContext('', ctx, idempotency))) as CompleteResult;
}

function stepContext(name: string, ctx: ServerContext, idempotency: Idempotency): StepContext {
  const ask = (asked: Question | Questions): Asking<never> =>
    isQuestion(asked) ? new Asking({ [name]: asked }, name) : new Asking(asked);
  return {
    ask,
    canAsk: (kind) => canAsk(ctx, kind),
    idempotencyKey: (key) => idempotency.key(key),
    request: ctx,
  };
}

const isQuestion = (asked: Question | Questions): asked is Question => typeof asked.message === 'string';

/** The questions of all steps. A key of a step's own has the step's name before it, so that no two steps share it. */
class StepQuestions {
  readonly #recall: Recall;

  constructor(recall: Recall) {
    this.#recall = recall;
  }

  read(
    step: string,
    asking: Asking<unknown>,
  ): 'refused' | { asked: InputRequiredResult } | { data: unknown } {
    const accepted = bareRecord<unknown>(undefined);
    const open: InputRequests = bareRecord(undefined);
    for (const [key, question] of Object.entries(asking.questions)) {
      const wireKey = asking.only ?? `${step}.${key}`;
      const answer = this.#recall.read(wireKey, question);
      if (isRefusal(answer)) return 'refused';
      if (answer.kind === 'accepted') accepted[key] = answer.value;
      else open[wireKey] = question.request;
    }
    if (Object.keys(open).length > 0) return { asked: inputRequired({ inputRequests: open }) };
    return { data: asking.only === undefined ? accepted : accepted[asking.only] };
  }

  save(asked: InputRequiredResult): ReturnType<Recall['save']> {
    return this.#recall.save(asked.inputRequests);
  }
}
