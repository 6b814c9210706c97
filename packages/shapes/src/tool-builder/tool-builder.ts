/**
 * Shape G: a tool in named steps. Incomplete steps ask or compute. The end step runs once, when every step before it
 * has its data.
 *
 * After a deploy: a question that was reworded, narrowed or widened, or whose step was renamed, is asked again. The
 * answer of a removed step is dropped; a moved step keeps its answer and its computed data. If a step that computed
 * data was removed or renamed, the request is rejected, because the step would run again.
 */
import { InvalidDefinition, type ServerContext } from '@mrtr/core';
import { aFunction, requireArgument, requireOptions } from '@mrtr/core/internal';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import { type Call, endCancelled, publishEntry, shapeCallback } from '@mrtr/core/shape';
import { type AskedFor, readAsked } from '../kit/asked.ts';
import { ASKING_CHECKS, type AskingOptions } from '../kit/asking.ts';
import { type HandlerContext, handlerContext } from '../kit/handler-context.ts';
import { Recall } from '../kit/recall.ts';
import {
  RECORDED_CHECKS,
  type Recorded,
  type RecordedOptions,
  readRecorded,
  recordValue,
} from '../kit/recorded.ts';
import { bareRecord, rejectBeforeEntry } from '../kit/state.ts';

const TAG = 'tool-builder/2';

type Data = Readonly<Record<string, unknown>>;
type AnyStep = (input: unknown, data: Data, ctx: HandlerContext) => unknown;
type Steps = ReadonlyMap<string, { readonly step: AnyStep } & RecordedOptions<unknown>>;
type NoSteps = Record<never, never>;

/** A finished definition, ready to build. */
export interface FinishedTool<Input, R extends CompleteResult> {
  /**
   * The SDK callback, for `registerTool`, `registerPrompt` or `registerResource`.
   *
   * @param options `asks`: rejects a client that cannot be asked before any step, also before one that computes.
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
   * data. Open calls are rejected if you rename or remove a step that computed data: it would run again.
   * @param step returns a question, a record of questions, or data; at once or as a promise.
   * @param options `schema`: checks data that an earlier round computed; see {@link RecordedOptions}.
   */
  incompleteStep<const Name extends string, R>(
    name: Name extends keyof D ? `There is already a step named '${Name}'. Rename one of them.` : Name,
    step: (input: Input, data: D, ctx: HandlerContext) => R | Promise<R>,
    options: RecordedOptions<AskedFor<R>> = {},
  ): ToolBuilder<Input, D & { readonly [K in Name]: AskedFor<R> }> {
    requireArgument(`incompleteStep '${name}'`, 'step', step, aFunction);
    requireOptions('incompleteStep', options, RECORDED_CHECKS);
    if (this.#steps.has(name))
      throw new InvalidDefinition(
        `There is already a step named '${name}'. Data is kept by name: rename one of them.`,
      );
    return new ToolBuilder(new Map(this.#steps).set(name, { step: step as AnyStep, schema: options.schema }));
  }

  /** Sets the step that makes the result. It runs once, with the data of all steps. Effects belong here. */
  endStep<R extends CompleteResult>(
    step: (input: Input, data: D, ctx: HandlerContext) => R | Promise<R>,
  ): FinishedTool<Input, R> {
    requireArgument('endStep', 'step', step, aFunction);
    const steps = this.#steps;
    return {
      build(options: AskingOptions = {}) {
        requireOptions('build', options, ASKING_CHECKS);
        return shapeCallback({ name: 'tool-builder', asks: options.asks }, (input: Input, ctx, call) =>
          runSteps(steps, step as AnyStep, { input, ctx, call }),
        ) as SdkCallback<Input, R>;
      },
    };
  }
}

/** One entry: runs the steps in order, until one of them has to ask, and then the end step. */
async function runSteps(
  steps: Steps,
  end: AnyStep,
  { input, ctx, call }: { readonly input: unknown; readonly ctx: ServerContext; readonly call: Call },
) {
  const recall = new Recall(ctx, TAG);
  const finished = bareRecord<Recorded>(recall.saved?.d);
  // A finished step that is missing may have been renamed, and would run again.
  const gone = Object.keys(finished).find((name) => !steps.has(name));
  if (gone !== undefined) rejectBeforeEntry(call, `the step '${gone}', whose data it holds, is gone`);
  const data = bareRecord<unknown>(undefined);
  const context = handlerContext(ctx);
  for (const [name, { step, schema }] of steps) {
    const known = finished[name];
    if (!known) publishEntry(call, 'tool-builder', 'step', name);
    const outcome = known
      ? readRecorded(call, `step '${name}'`, known, schema)
      : await step(input, data, context);
    const asked = readAsked(recall, name, outcome);
    if (asked?.refused) return endCancelled(call, asked.refused[0]);
    if (asked && Object.keys(asked.open).length > 0)
      return recall.ask(asked.open, [...steps.keys()], { d: finished });
    if (!asked) finished[name] = recordValue(`The data of step '${name}'`, outcome);
    data[name] = asked ? asked.value : outcome;
  }
  publishEntry(call, 'tool-builder', 'end');
  return (await end(input, data, context)) as CompleteResult;
}
