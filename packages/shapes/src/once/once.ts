/**
 * Shape F: guard-first, with every side effect above the guard wrapped in `once`.
 *
 * Each round enters the handler from the top. `once` records effects and their values in the sealed `requestState`. It
 * is opt-in: an unwrapped effect runs in every round. It protects consecutive rounds of one call. If a client sends the
 * same round twice, its effects run twice, unless the state is single-use.
 *
 * After a deploy: a question that was reworded, renamed, narrowed or widened is asked again. The answer to a removed
 * question is dropped; a moved question keeps its answer. An effect keeps its record under its key, wherever it moves.
 * If the handler reaches a new key while a recorded key is missing, the request is rejected: it may be a rename. So
 * before its first new answer, a handler must run the same effects as in the round before.
 */
import { type InputRequiredResult, isInputRequiredResult } from '@modelcontextprotocol/server';
import { type Answer, type AnswerOf, InvalidDefinition, type Question, type ServerContext } from '@mrtr/core';
import { aFunction, ownEntry, publish, requireArgument, requireOptions } from '@mrtr/core/internal';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import { type Call, publishEntry, shapeCallback, withNotes } from '@mrtr/core/shape';
import { handleRejection } from '../kit/answer-promise.ts';
import { ASKING_CHECKS, type AskingOptions } from '../kit/asking.ts';
import { type HandlerContext, handlerContext } from '../kit/handler-context.ts';
import { Recall } from '../kit/recall.ts';
import {
  duplicateKeyError,
  type Once,
  RECORDED_CHECKS,
  type Recorded,
  readRecorded,
  recordValue,
} from '../kit/recorded.ts';
import { type Author, bareRecord } from '../kit/state.ts';

const TAG = 'once/2';

/** The context of a guard-first handler. */
export interface OnceContext extends HandlerContext {
  /**
   * Runs `effect` in the first round that gets here, and returns its recorded value in later rounds. An effect that
   * throws is not recorded, so the next round tries again.
   *
   * @param key names the effect within this tool; unique in a call.
   * @param effect must return JSON (or nothing).
   * @param options `schema`: checks a value that an earlier round recorded; see `RecordedOptions`.
   * @throws NotJson when it returns another value: a later round would see it changed.
   * @throws InvalidDefinition when the key comes twice in one round.
   */
  readonly once: Once;
  /** The answer to `question`, of this round or of an earlier one. */
  answer<Q extends Question>(key: string, question: Q): Answer<AnswerOf<Q>>;
}

/**
 * Makes a handler with `ctx.once` into an SDK callback for a tool, a prompt or a resource.
 *
 * @throws UnprotectedServer in the call, on a server whose request state is not protected: a client that forges the
 * record skips the effects.
 * @throws InvalidOption when the handler is not a function, and for an option that does not exist, or has a value that it cannot have.
 * @example
 * const confirm = elicitation('Really deploy?', z.object({ yes: z.boolean() }));
 * server.registerTool('deploy', { inputSchema }, once(async ({ env }, ctx) => {
 *   const ticket = await ctx.once('ticket', () => openTicket(env));
 *   const answer = ctx.answer('confirm', confirm);
 *   if (isRefusal(answer)) return cancelledResult('confirm');
 *   if (answer.kind !== 'accepted') return ask({ confirm });
 *   return textResult(await deploy(env, ticket));
 * }, { asks: ['elicitation'] }));
 */
export function once<Input, R extends CompleteResult>(
  handler: Author<Input, OnceContext, R | InputRequiredResult>,
  options: AskingOptions = {},
): SdkCallback<Input, R> {
  requireArgument('once', 'handler', handler, aFunction);
  requireOptions('once', options, ASKING_CHECKS);
  return shapeCallback<Input, R>({ name: 'once', asks: options.asks }, async (input, ctx, call) => {
    const recall = new Recall(ctx, TAG);
    const effects = recordEffects(call, recall.saved);
    publishEntry(call, 'once');
    const own: Pick<OnceContext, 'once' | 'answer'> = {
      once: (key, effect, options) => handleRejection(effects.once(key, effect, options)),
      answer: (key, question) => {
        if (mayBeNew(key, ctx, call)) effects.noteAnswer();
        return recall.read(key, question);
      },
    };
    const result = await handler(input, Object.assign(handlerContext(ctx), own));
    // Record unawaited effects too: they have run, and must not run again.
    while (effects.running.size > 0) await Promise.allSettled(effects.running);
    if (!isInputRequiredResult(result)) return result as R;
    if (result.requestState !== undefined)
      throw new InvalidDefinition(
        'A once handler cannot return its own requestState: keep the value with ctx.once.',
      );
    const [values, failed] = [effects.values, effects.findFailed()];
    const requestState = recall.stateFor(result.inputRequests ?? {}, undefined, { e: values, f: failed });
    return withNotes({ ...result, requestState }, { effects: [...Object.keys(values), ...failed] });
  });
}

/** Whether this round may have brought a new answer to `key`. If the policy accepts unasked answers, any may be new. */
const mayBeNew = (key: string, ctx: ServerContext, { asked }: Call) =>
  asked === undefined || (asked.has(key) && ownEntry(ctx.mcpReq.inputResponses, key) !== undefined);

/** The effects of this entry, and those that earlier rounds recorded in `saved`. */
function recordEffects(call: Call, saved: Recall['saved']) {
  const values = bareRecord<Recorded>(saved?.e);
  const earlier = Object.keys(values);
  const failedBefore = (saved?.f ?? []) as readonly string[];
  const keys = new Set<string>();
  const running = new Set<Promise<unknown>>();
  let isInformed = false;
  let rejection: unknown;

  /** Rejects a new key while a recorded key is missing: it may be a rename. */
  const rejectRenamed = (key: string) => {
    const missing = earlier.find((one) => !keys.has(one));
    if (missing === undefined || isInformed || failedBefore.includes(key)) return;
    call.rejectState(`the effect '${missing}' has run, and the handler now has '${key}' in its place`);
  };

  /** Runs `check`. After a rejection, throws it again, so that nothing else runs. */
  const stopAfterRejection = <T>(check: () => T) => {
    if (rejection !== undefined) throw rejection;
    try {
      return check();
    } catch (error) {
      rejection = error;
      throw error;
    }
  };

  const run = async <T>(key: string, effect: () => T | Promise<T>) => {
    const value = await effect();
    values[key] = recordValue(`The value of once('${key}')`, value);
    return value;
  };

  const once: Once = async (key, effect, options = {}) => {
    requireOptions('once', options, RECORDED_CHECKS);
    if (keys.has(key)) throw duplicateKeyError(key);
    keys.add(key);
    const recorded = values[key];
    if (!recorded) stopAfterRejection(() => rejectRenamed(key));
    publish('mrtr:effect', { call: call.id, shape: 'once', key, phase: recorded ? 'skipped' : 'ran' });
    if (recorded)
      return stopAfterRejection(() => readRecorded(call, `once('${key}')`, recorded, options.schema));
    const effectRun = run(key, effect);
    running.add(effectRun);
    try {
      return await effectRun;
    } finally {
      running.delete(effectRun);
    }
  };

  return {
    values,
    once,
    /** Notes that this entry has read a new answer. Until then it must run the same effects as earlier entries. */
    noteAnswer: () => {
      isInformed = true;
    },
    running,
    /** The effects that failed, and have no value. */
    findFailed: () => [...new Set([...failedBefore, ...keys])].filter((key) => values[key] === undefined),
  };
}
