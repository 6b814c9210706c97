/**
 * Shape G: a tool in named steps. Incomplete steps ask or compute. The end step runs once, when every step before it
 * has its data.
 *
 * After a deploy: a question that was reworded, narrowed or widened, or whose step was renamed, is asked again. The
 * answer of a removed step is dropped; a moved step keeps its answer and its computed data. If a step that computed
 * data was removed or renamed, the request is refused, because the step would run again.
 */
import {
  type AnswerOf,
  type Answers,
  ask,
  InvalidDefinition,
  isRefusal,
  type Question,
  type Questions,
  type ServerContext,
} from '@mrtr/core';
import { publish } from '@mrtr/core/events';
import { aFunction, requireArgument, requireOptions } from '@mrtr/core/kit';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import { type Call, endCancelled, isQuestion, isQuestions, shapeCallback } from '@mrtr/core/shape';

import { ASKING_CHECKS, type AskingOptions } from '../kit/asking.ts';
import { type HandlerContext, handlerContext } from '../kit/handler-context.ts';
import { assertJson } from '../kit/json.ts';
import { Recall } from '../kit/recall.ts';
import { RECORDED_CHECKS, type RecordedOptions, takeRecorded } from '../kit/recorded.ts';
import { bareRecord, loadState, rejectBeforeEntry, saveState } from '../kit/state.ts';
import { isKeyOf, wireKey } from '../kit/wire-key.ts';

const TAG = 'tool-builder/2';

/** The context of a step. A step also gets the arguments and the data of the steps before it. */
export type StepContext = HandlerContext;

/** The data of a step whose function returns `R`: the accepted answers to its questions, or what it returned. */
export type StepData<R> = R extends Question ? AnswerOf<R> : R extends Questions ? Answers<R> : R;

type Data = Readonly<Record<string, unknown>>;
type AnyStep = (input: unknown, data: Data, ctx: StepContext) => unknown;
type Steps = ReadonlyMap<string, { readonly step: AnyStep } & RecordedOptions<unknown>>;
type NoSteps = Record<never, never>;

/** A finished definition, ready to build. */
export interface FinishedTool<Input, R extends CompleteResult> {
  /**
   * The SDK callback, for `registerTool`, `registerPrompt` or `registerResource`.
   *
   * @param options `asks`: refuses a client that cannot be asked before any step, also before one that computes.
   */
  build(options?: AskingOptions): SdkCallback<Input, R>;
}

/**
 * Defines a tool step by step. A builder never changes: each method returns the next one.
 *
 * A step may return a question, or several as `{ key: question }`. Then its data is the accepted answer, and a refusal
 * ends the call politely. Or it returns plain JSON data. Then it runs once in a call, and its data travels in
 * `requestState`. A step that asks runs in each round until the end, to compare its question with the answered one. So
 * keep effects in the end step.
 *
 * @throws InvalidDefinition from the method that makes the definition wrong.
 * @throws InvalidOption for an unknown option, and for a step that is not a function.
 * @example
 * const deploy = new ToolBuilder<{ env: string }>()
 *   .incompleteStep('confirm', ({ env }) => elicitation(words`Deploy to ${env}?`, YesNo))
 *   .endStep(async ({ env }, { confirm }) => textResult(confirm.yes ? await run(env) : 'Left alone.'))
 *   .build();
 */
export class ToolBuilder<Input, D extends Data = NoSteps> {
  readonly #steps: Steps;

  constructor(steps: Steps = new Map()) {
    this.#steps = steps;
  }

  /**
   * Adds a step. Its data reaches the later steps as `data[name]`.
   *
   * @param name also names the step in open calls: if you rename the step, it asks again; if you move it, it keeps its
   * data. Open calls are refused if you rename or remove a step that computed data: it would run again.
   * @param step returns a question, a record of questions, or data; at once or as a promise.
   * @param options `schema`: checks data that an earlier round computed; see {@link RecordedOptions}.
   */
  incompleteStep<const Name extends string, R>(
    name: Name extends keyof D ? `There is already a step named '${Name}'. Rename one of them.` : Name,
    step: (input: Input, data: D, ctx: StepContext) => R | Promise<R>,
    options: RecordedOptions<StepData<R>> = {},
  ): ToolBuilder<Input, D & { readonly [K in Name]: StepData<R> }> {
    requireArgument(`incompleteStep '${name}'`, 'step', step, aFunction);
    requireOptions('incompleteStep', options, RECORDED_CHECKS);
    if (this.#steps.has(name)) {
      throw new InvalidDefinition(
        `There is already a step named '${name}'. Data is kept by name: rename one of them.`,
      );
    }
    return new ToolBuilder(new Map(this.#steps).set(name, { step: step as AnyStep, schema: options.schema }));
  }

  /** Sets the step that makes the result. It runs once, with the data of all steps. Effects belong here. */
  endStep<R extends CompleteResult>(
    step: (input: Input, data: D, ctx: StepContext) => R | Promise<R>,
  ): FinishedTool<Input, R> {
    requireArgument('endStep', 'step', step, aFunction);
    const steps = this.#steps;
    return {
      build(options: AskingOptions = {}) {
        requireOptions('build', options, ASKING_CHECKS);
        return shapeCallback({ name: 'tool-builder', asks: options.asks }, async (input: Input, ctx, call) =>
          new Run(ctx, call, steps).runTo(step as AnyStep, input),
        ) as SdkCallback<Input, R>;
      },
    };
  }
}

/** One entry: runs the steps in order, until one of them has to ask. */
class Run {
  readonly #ctx: ServerContext;
  readonly #call: Call;
  readonly #steps: Steps;
  readonly #finished: Record<string, readonly unknown[]>;
  readonly #recall: Recall;

  constructor(ctx: ServerContext, call: Call, steps: Steps) {
    const saved = loadState(ctx, TAG);
    this.#steps = steps;
    this.#ctx = ctx;
    this.#call = call;
    this.#finished = bareRecord(saved?.d);
    this.#recall = new Recall(ctx, saved?.a);
    // A finished step that is missing may have been renamed, and would run again.
    const gone = Object.keys(this.#finished).find((name) => !steps.has(name));
    if (gone !== undefined) rejectBeforeEntry(call, `the step '${gone}', whose data it holds, is gone`);
  }

  async runTo(end: AnyStep, input: unknown) {
    const data: Record<string, unknown> = bareRecord(undefined);
    const context = handlerContext(this.#ctx, this.#call);
    for (const [name, { step, schema }] of this.#steps) {
      const known = this.#finished[name];
      if (!known) this.#publishEntry('step', name);
      const outcome = known
        ? takeRecorded(this.#call, `step '${name}'`, known[0], schema)
        : await step(input, data, context);
      const questions = questionsOf(name, outcome);
      if (questions) {
        const answered = this.#answers(questions);
        if ('refused' in answered) return endCancelled(this.#call, answered.refused);
        if ('open' in answered) return this.#ask(answered.open);
        data[name] = answered.data;
      } else {
        assertJson(outcome, `The data of step '${name}'`);
        this.#finished[name] = outcome === undefined ? [] : [outcome];
        // A copy, so that a later step cannot change the record.
        data[name] = structuredClone(outcome);
      }
    }
    this.#publishEntry('end');
    return (await end(input, data, context)) as CompleteResult;
  }

  #publishEntry(part: 'step' | 'end', name?: string): void {
    publish('mrtr:handler', {
      call: this.#call.id,
      shape: 'tool-builder',
      target: this.#call.target,
      part,
      name,
    });
  }

  #answers({ wire, single }: Asked): { refused: string } | { open: Questions } | { data: unknown } {
    const accepted = bareRecord<unknown>(undefined);
    const open: Record<string, Question> = bareRecord(undefined);
    for (const [wireKey, key, question] of wire) {
      const answer = this.#recall.read(wireKey, question);
      if (isRefusal(answer)) return { refused: wireKey };
      if (answer.kind === 'accepted') accepted[key] = answer.value;
      else open[wireKey] = question;
    }
    if (Object.keys(open).length > 0) return { open };
    return { data: single ? accepted[SINGLE] : accepted };
  }

  #ask(open: Questions) {
    const asked = ask(open);
    const isKnown = (key: string) => [...this.#steps.keys()].some((step) => isKeyOf(step, key));
    const answers = this.#recall.save(asked.inputRequests ?? {}, isKnown);
    return { ...asked, requestState: saveState(TAG, { a: answers, d: this.#finished }) };
  }
}

/** The questions of a step, with their keys on the wire and in the step's data. */
interface Asked {
  readonly wire: readonly (readonly [wireKey: string, key: string, question: Question])[];
  readonly single: boolean;
}

const SINGLE = '';

function questionsOf(step: string, outcome: unknown): Asked | undefined {
  if (isQuestion(outcome)) return { wire: [[wireKey(step), SINGLE, outcome]], single: true };
  if (!isQuestions(outcome)) return undefined;
  const wire = Object.entries(outcome).map(([key, question]) => [wireKey(step, key), key, question] as const);
  return { wire, single: false };
}
