/**
 * Shape B: `await elicit()` on top of re-entry. The cautionary tale: do not ship it.
 *
 * `await` looks like a suspension point. Here it is not one: on a modern client, `elicit` throws, the handler's
 * frame is lost, and the whole handler runs again from its first line when the answer is there. Whatever stands
 * above the `await` runs once per round: an audit entry is written twice, a payment is made twice. A
 * `catch` or `finally` in the handler sees the throw and does its work although nothing failed. Nothing in the
 * source says so, and on an old client, whose call really waits, all is well, so tests there pass.
 *
 * It is here because frameworks ship it and because it can be measured. Shape H suspends for real; shape F
 * guards the effects; use one of them.
 */
import {
  askLive,
  type CompleteResult,
  callOf,
  canAsk,
  canAskLive,
  type Elicitation,
  ElicitationDeclined,
  elicitation,
  endCall,
  endCancelled,
  inputRequired,
  publish,
  type SdkCallback,
  type ServerContext,
  type StandardSchemaV1,
  type StandardSchemaWithJSON,
  speaksMrtr,
} from '@mrtr/core';
import { questionKey } from './question-key.ts';
import { Recall } from './recall.ts';
import { type Author, handled, loadState, saveState } from './shape.ts';

const TAG = 'await-shim/1';

/** The SDK's context, with an `elicit` that looks as if it waited. */
export type AwaitShimContext = ServerContext & {
  /**
   * The user's validated answer. On a modern client that has not answered yet, throws to unwind the handler.
   *
   * @throws ElicitationDeclined when the user said no; left alone, it ends the call politely.
   */
  elicit<S extends StandardSchemaWithJSON>(
    message: string,
    schema: S,
  ): Promise<StandardSchemaV1.InferOutput<S>>;
};

/** Thrown through the author's code, and caught by nobody but {@link awaitShim}. One hopes. */
class Unwind extends Error {
  readonly key: string;
  readonly question: Elicitation;
  constructor(key: string, question: Elicitation) {
    super('Unwinding to ask the user. If you read this in a log, a catch block swallowed a question.');
    this.key = key;
    this.question = question;
  }
}

/**
 * Makes a handler with `ctx.elicit` into an SDK callback that re-runs it from the top on every round. Read the
 * top of this file before you use it, and then do not.
 */
export function awaitShim<Input, R extends CompleteResult>(
  handler: Author<Input, AwaitShimContext, R>,
): SdkCallback<Input, R> {
  return async (input, ctx) => {
    const call = callOf(ctx, 'await-shim');
    // Up front: found out half-way, what stands above the first question would have run for nothing.
    if (!canAsk(ctx, 'elicitation') && !canAskLive(ctx, 'elicitation')) {
      return endCall(
        call,
        'This needs a client that can be asked, on a connection that can carry the question.',
      ) as R;
    }
    const recall = new Recall(ctx, loadState(ctx, TAG));
    const keys = new Set<string>();
    const ask: AwaitShimContext['elicit'] = async (message, schema) => {
      const question = elicitation(message, schema);
      const key = questionKey(question, (taken) => keys.has(taken));
      keys.add(key);
      const answer = speaksMrtr(ctx) ? recall.read(key, question) : await askLive(ctx, key, question);
      if (answer.kind === 'accepted') return answer.value;
      if (answer.kind === 'declined') throw new ElicitationDeclined('decline');
      if (answer.kind === 'cancelled') throw new ElicitationDeclined('cancel');
      throw new Unwind(key, question);
    };
    publish('mrtr:handler', { shape: 'await-shim', target: call.target });
    try {
      return await handler(input, { ...ctx, elicit: (message, schema) => handled(ask(message, schema)) });
    } catch (thrown) {
      if (thrown instanceof ElicitationDeclined) return endCancelled(call) as R;
      if (!(thrown instanceof Unwind)) throw thrown;
      const asked = inputRequired({ inputRequests: { [thrown.key]: thrown.question.request } });
      return { ...asked, requestState: saveState(TAG, recall.save(asked.inputRequests)) };
    }
  };
}
