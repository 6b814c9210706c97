/**
 * Shape F: guard-first, with every side effect above the guard wrapped in `once`.
 *
 * Each round enters the handler from the top. `once` records effects and their values in the sealed `requestState`. It
 * is opt-in: an unwrapped effect runs in every round. It protects consecutive rounds of one call. If a client sends the
 * same round twice, its effects run twice, unless the state is single-use.
 *
 * After a deploy: a question that was reworded, renamed, narrowed or widened is asked again. The answer to a removed
 * question is dropped; a moved question keeps its answer. An effect keeps its record under its key, wherever it moves.
 * If the handler reaches a new key while a recorded key is missing, the request is refused: it may be a rename. So
 * before its first new answer, a handler must run the same effects as in the round before.
 */
import { isInputRequiredResult } from '@modelcontextprotocol/server';
import {
  type Answer,
  type AnswerOf,
  type InputRequiredResult,
  InvalidDefinition,
  type Question,
  type ServerContext,
} from '@mrtr/core';
import { publish } from '@mrtr/core/events';
import { aFunction, ownEntry, requireArgument, requireOptions } from '@mrtr/core/kit';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import { type Call, shapeCallback, withNotes } from '@mrtr/core/shape';
import { ASKING_CHECKS, type AskingOptions } from '../kit/asking.ts';
import { duplicateKeyError } from '../kit/definition.ts';
import { handleRejection } from '../kit/handled.ts';
import { type HandlerContext, handlerContext } from '../kit/handler-context.ts';
import { assertJson } from '../kit/json.ts';
import { Recall } from '../kit/recall.ts';
import { RECORDED_CHECKS, type RecordedOptions, takeRecorded } from '../kit/recorded.ts';
import { type Author, bareRecord, loadState, saveState } from '../kit/state.ts';

const TAG = 'once/2';

/** The context of a guard-first handler. */
export interface OnceContext extends HandlerContext {
  /**
   * Runs `effect` in the first round that gets here, and returns its recorded value in later rounds. An effect that
   * throws is not recorded, so the next round tries again.
   *
   * @param key names the effect within this tool; unique in a call.
   * @param effect must return JSON (or nothing).
   * @param options `schema`: checks a value that an earlier round recorded; see {@link RecordedOptions}.
   * @throws NotJson when it returns another value: a later round would see it changed.
   * @throws InvalidDefinition when the key comes twice in one round.
   */
  once<T>(key: string, effect: () => T | Promise<T>, options?: RecordedOptions<T>): Promise<T>;
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
    const saved = loadState(ctx, TAG);
    const recall = new Recall(ctx, saved?.a);
    const effects = new Effects(call, saved);
    publish('mrtr:handler', { call: call.id, shape: 'once', target: call.target, part: 'handler' });
    const result = await handler(input, {
      ...handlerContext(ctx, call),
      once: (key, effect, options) => handleRejection(effects.once(key, effect, options)),
      answer: (key, question) => {
        if (mayBeNew(key, ctx, call)) effects.isInformed = true;
        return recall.read(key, question);
      },
    });
    // Record unawaited effects too: they have run, and must not run again.
    await effects.waitForEffects();
    if (!isInputRequiredResult(result)) return result as R;
    if (result.requestState !== undefined)
      throw new InvalidDefinition(
        'A once handler cannot return its own requestState: keep the value with ctx.once.',
      );
    const kept = { a: recall.save(result.inputRequests ?? {}), e: effects.values, f: effects.failed };
    const asked = { ...result, requestState: saveState(TAG, kept) };
    return withNotes(asked, { effects: [...Object.keys(effects.values), ...effects.failed] });
  });
}

/** Whether this round may have brought a new answer to `key`. If the policy accepts unasked answers, any may be new. */
const mayBeNew = (key: string, ctx: ServerContext, { asked }: Call): boolean =>
  asked === undefined || (asked.has(key) && ownEntry(ctx.mcpReq.inputResponses, key) !== undefined);

class Effects {
  /**
   * Each value is in a list of one; the empty list stands for `undefined`. Values are copied in and out, because the
   * author's changes above the guard are made again in each round.
   */
  readonly values: Record<string, readonly unknown[]>;
  /** Whether this entry has read a new answer. Until then it must run the same effects as earlier entries. */
  isInformed = false;
  readonly #call: Call;
  /** The effects of earlier rounds. */
  readonly #earlier: readonly string[];
  readonly #failedBefore: readonly string[];
  #refused: unknown;
  readonly #keys = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(call: Call, saved: Record<string, unknown> | undefined) {
    this.#call = call;
    this.values = bareRecord(saved?.e);
    this.#earlier = Object.keys(this.values);
    this.#failedBefore = (saved?.f ?? []) as readonly string[];
  }

  /** The effects that failed, and have no value. */
  get failed(): readonly string[] {
    const keys = new Set([...this.#failedBefore, ...this.#keys]);
    return [...keys].filter((key) => this.values[key] === undefined);
  }

  async once<T>(key: string, effect: () => T | Promise<T>, options: RecordedOptions<T> = {}): Promise<T> {
    requireOptions('once', options, RECORDED_CHECKS);
    if (this.#keys.has(key)) throw duplicateKeyError(key);
    this.#keys.add(key);
    const recorded = this.values[key];
    if (!recorded) this.#stopAfterRefusal(() => this.#refuseRenamed(key));
    publish('mrtr:effect', { call: this.#call.id, shape: 'once', key, phase: recorded ? 'skipped' : 'ran' });
    if (recorded) {
      const value = structuredClone(recorded[0]);
      return this.#stopAfterRefusal(() => takeRecorded(this.#call, `once('${key}')`, value, options.schema));
    }
    const running = this.#run(key, effect);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Waits for the running effects, and for effects that those start. */
  async waitForEffects(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** Rejects a new key while a recorded key is missing: it may be a rename. */
  #refuseRenamed(key: string): void {
    const missing = this.#earlier.find((earlier) => !this.#keys.has(earlier));
    if (missing === undefined || this.isInformed || this.#failedBefore.includes(key)) return;
    this.#call.rejectState(`the effect '${missing}' has run, and the handler now has '${key}' in its place`);
  }

  /** Runs `check`. After a refusal, throws it again, so that nothing else runs. */
  #stopAfterRefusal<T>(check: () => T): T {
    if (this.#refused !== undefined) throw this.#refused;
    try {
      return check();
    } catch (error) {
      this.#refused = error;
      throw error;
    }
  }

  async #run<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    const value = await effect();
    assertJson(value, `The value of once('${key}')`);
    this.values[key] = value === undefined ? [] : [structuredClone(value)];
    return value;
  }
}
