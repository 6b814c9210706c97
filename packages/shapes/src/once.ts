/**
 * Shape F: guard-first, with every side effect above the guard wrapped in `once`.
 *
 * The handler is entered once per round, in full view of its author. `once` remembers in the sealed
 * `requestState` which effects ran and what they returned. It is opt-in: an effect that is not wrapped runs in
 * every round. And it guards the rounds of one call, in order; a client that sends the same round twice runs
 * the effects of that round twice, unless the state is single-use.
 */
import {
  type Answer,
  type AnswerOf,
  type CompleteResult,
  callOf,
  type InputRequiredResult,
  InvalidDefinition,
  inputRequired,
  isInputRequiredResult,
  publish,
  type Question,
  type Questions,
  type SdkCallback,
  type ServerContext,
} from '@mrtr/core';
import { Idempotency } from './idempotency.ts';
import { assertJson, copyJson } from './json.ts';
import { Recall } from './recall.ts';
import { type Author, bareRecord, loadState, saveState } from './shape.ts';

const TAG = 'once/1';

/** The SDK's context, with the three things that make a guard-first handler safe to re-enter. */
export type OnceContext = ServerContext & {
  /**
   * Runs `fn` in the first round that gets here and returns its value; in later rounds, returns that value.
   * Concurrent calls of one key run `fn` once. A `fn` that throws is not recorded, so the next round tries again.
   *
   * @param key names the effect within this tool.
   * @param fn must return JSON (or nothing).
   * @throws NotJson when it does not: a later round would see another value.
   */
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>;
  /**
   * A key to hand to whoever performs the effect `key` elsewhere, so that it is done once even if this process dies
   * before it can record it: the same in every round, on every instance, and for a round that is presented again.
   */
  idempotencyKey(key: string): string;
  /** The answer to `question`, of this round or of an earlier one. */
  answer<Q extends Question>(key: string, question: Q): Answer<AnswerOf<Q>>;
  /** The result that asks `questions`. The SDK's own `inputRequired(...)` serves as well. */
  ask(questions: Questions): InputRequiredResult;
};

/**
 * Makes a handler with `ctx.once` into an SDK callback for a tool, a prompt or a resource.
 *
 * @throws UnprotectedServer in the call, on a server whose request state is not protected: whoever can forge
 * the record can skip the effects.
 * @example
 * const confirm = elicitation('Really deploy?', z.object({ yes: z.boolean() }));
 * server.registerTool('deploy', { inputSchema }, once(async ({ env }, ctx) => {
 *   const ticket = await ctx.once('ticket', () => openTicket(env));
 *   const answer = ctx.answer('confirm', confirm);
 *   if (isRefusal(answer)) return cancelledResult();
 *   if (answer.kind !== 'accepted') return ctx.ask({ confirm });
 *   return textResult(await deploy(env, ticket));
 * }));
 */
export function once<Input, R extends CompleteResult>(
  handler: Author<Input, OnceContext, R | InputRequiredResult>,
): SdkCallback<Input, R> {
  return async (input, ctx) => {
    const call = callOf(ctx, 'once');
    const saved = loadState(ctx, TAG);
    const recall = new Recall(ctx, saved);
    const effects = new Effects(saved?.e);
    const idempotency = new Idempotency(call, saved?.i);
    publish('mrtr:handler', { shape: 'once', target: call.target });
    const result = await handler(input, {
      ...ctx,
      once: (key, fn) => effects.once(key, fn),
      idempotencyKey: (key) => idempotency.key(key),
      answer: (key, question) => recall.read(key, question),
      ask: askAll,
    });
    // An effect that nobody awaited has run all the same, and must not run again.
    await effects.settled();
    if (!isInputRequiredResult(result)) return result as R;
    if (result.requestState !== undefined) {
      throw new InvalidDefinition(
        'A once handler has no requestState of its own: keep the value with ctx.once.',
      );
    }
    const kept = { ...recall.save(result.inputRequests), e: effects.values, i: idempotency.save() };
    return { ...result, requestState: saveState(TAG, kept) };
  };
}

const askAll = (questions: Questions): InputRequiredResult =>
  inputRequired({
    inputRequests: Object.fromEntries(Object.entries(questions).map(([key, { request }]) => [key, request])),
  });

class Effects {
  /**
   * A value is kept in a list of one, so that `undefined` is kept as well (as the empty list). It is copied on its
   * way in and out: what an author does to it above the guard is done again in each round.
   */
  readonly values: Record<string, readonly unknown[]>;
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(saved: unknown) {
    this.values = bareRecord(saved);
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const recorded = this.values[key];
    if (recorded) {
      publish('mrtr:effect', { shape: 'once', key, phase: 'held' });
      return Promise.resolve(copyJson(recorded[0]) as T);
    }
    return (this.#running.get(key) as Promise<T> | undefined) ?? this.#start(key, fn);
  }

  /** Waits for whatever is running, and for what that starts. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values());
  }

  #start<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const running = this.#run(key, fn);
    this.#running.set(key, running);
    // Not in a `finally` block of #run: when `fn` throws at once, that would come before the line above.
    const done = () => this.#running.delete(key);
    running.then(done, done);
    return running;
  }

  async #run<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    publish('mrtr:effect', { shape: 'once', key, phase: 'ran' });
    const value = await fn();
    assertJson(value, `The value of once('${key}')`);
    this.values[key] = value === undefined ? [] : [copyJson(value)];
    return value;
  }
}
