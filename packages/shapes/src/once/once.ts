/**
 * Shape F: guard-first, with every side effect above the guard wrapped in `once`.
 *
 * Each round enters the handler, visibly for its author. `once` records in the sealed `requestState` which effects ran
 * and what they returned. It is opt-in: an effect that is not wrapped runs in every round. It protects consecutive
 * rounds of one call. If a client sends the same round twice, the effects of that round run twice, unless the state is
 * single-use.
 *
 * After a deploy: a question that was reworded, renamed, narrowed or widened is asked again. The answer to a removed
 * question is dropped, and that to a moved one counts. An effect keeps its record under its key, wherever it moves. If the
 * handler reaches a new effect while a recorded one is missing, the new one may be the missing one, renamed: the request is
 * refused. So until it reads an answer of this round, a handler has to do what it did in the round before.
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
import { RECORDED_CHECKS, type Recorded, takeRecorded } from '../kit/recorded.ts';
import { type Author, bareRecord, loadState, saveState } from '../kit/state.ts';

const TAG = 'once/2';

/** The context of a guard-first handler. */
export interface OnceContext extends HandlerContext {
  /**
   * Runs `effect` in the first round that gets here and returns its value; in later rounds, returns that value. An
   * effect that throws is not recorded, so the next round tries again.
   *
   * @param key names the effect within this tool; unique in a call.
   * @param effect must return JSON (or nothing).
   * @param options `schema`: checks a value that an earlier round recorded; see {@link Recorded}.
   * @throws NotJson when it returns another value: a later round would see it changed.
   * @throws InvalidDefinition when the key comes twice in one round.
   */
  once<T>(key: string, effect: () => T | Promise<T>, options?: Recorded<T>): Promise<T>;
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
        if (isNews(key, ctx, call)) effects.isInformed = true;
        return recall.read(key, question);
      },
    });
    // Also record effects that nobody awaited: they have run, and must not run again.
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

/** Whether the answer to `key` has come in this round. Where unasked answers are accepted, any may have. */
const isNews = (key: string, ctx: ServerContext, { asked }: Call): boolean =>
  asked === undefined || (asked.has(key) && ownEntry(ctx.mcpReq.inputResponses, key) !== undefined);

class Effects {
  /**
   * A value is kept in a list of one, so that `undefined` can be kept too (as the empty list). It is copied on its way
   * in and out, because the author's changes to it above the guard are made again in each round.
   */
  readonly values: Record<string, readonly unknown[]>;
  /** Whether this entry has read something that no earlier one could: until then it does what they did. */
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

  /** The effects that failed, and so have no value. */
  get failed(): readonly string[] {
    const keys = new Set([...this.#failedBefore, ...this.#keys]);
    return [...keys].filter((key) => this.values[key] === undefined);
  }

  async once<T>(key: string, effect: () => T | Promise<T>, options: Recorded<T> = {}): Promise<T> {
    requireOptions('once', options, RECORDED_CHECKS);
    if (this.#keys.has(key)) throw duplicateKeyError(key);
    this.#keys.add(key);
    const recorded = this.values[key];
    if (!recorded) this.#unlessRefused(() => this.#refuseRenamed(key));
    publish('mrtr:effect', { call: this.#call.id, shape: 'once', key, phase: recorded ? 'skipped' : 'ran' });
    if (recorded) {
      const value = structuredClone(recorded[0]);
      return this.#unlessRefused(() => takeRecorded(this.#call, `once('${key}')`, value, options.schema));
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

  /** An effect that is new where the earlier rounds did the same, while one of theirs is missing, may be that one. */
  #refuseRenamed(key: string): void {
    const missing = this.#earlier.find((earlier) => !this.#keys.has(earlier));
    if (missing === undefined || this.isInformed || this.#failedBefore.includes(key)) return;
    this.#call.rejectState(`the effect '${missing}' has run, and the handler now has '${key}' in its place`);
  }

  /** Nothing runs any more, once the state was refused. */
  #unlessRefused<T>(check: () => T): T {
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
