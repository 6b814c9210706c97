/**
 * Shape B: `await elicit()` on top of re-entry. Do not use it.
 *
 * `await` seems to suspend the handler. For a modern client it does not: `elicit` throws, the handler's frame is lost,
 * and the whole handler runs again from its first line when the answer arrives. Code above the `await` runs once per
 * round: an audit entry is written twice, a payment is made twice. A `catch` or `finally` in the handler sees the throw
 * and runs although nothing failed. The source shows none of this. For an old client the call really waits, so tests
 * with one pass.
 *
 * After a deploy: a question keeps its answer if its words and its form are unchanged. Any other question is asked
 * again, and all effects above it run again.
 *
 * It is here to be measured, because frameworks ship it, and is no part of a library. Use shape H, which really suspends,
 * or shape F, which guards the effects.
 */
import {
  askLive,
  canAskLive,
  type Elicitation,
  ElicitationDeclined,
  elicitation,
  isRefusal,
  speaksMrtr,
} from '@mrtr/core';
import {
  type CompleteResult,
  endCancelled,
  publishEntry,
  type SdkCallback,
  shapeCallback,
} from '@mrtr/core/shape';
import { AnswerPromise, type HandlerContext, handlerContext, Recall } from '@mrtr/shapes';
import type { LinearContext } from '@mrtr/shapes/linear';

type Elicit = LinearContext['elicit'];

/** A context with an `elicit` that seems to wait. */
export interface AwaitShimContext extends HandlerContext {
  /**
   * The user's validated answer, with the type that it has in H. Throws to unwind the handler if a modern client has not
   * answered yet.
   *
   * @throws ElicitationDeclined when the client refuses the question; uncaught, it ends the call politely.
   */
  readonly elicit: Elicit;
}

/** Thrown through the author's code, for {@link awaitShim} to catch. An author's `catch` block catches it first. */
class Unwind extends Error {
  readonly key: string;
  readonly question: Elicitation;
  constructor(key: string, question: Elicitation) {
    super('Unwinding to ask the user. If you read this in a log, a catch block swallowed a question.');
    this.key = key;
    this.question = question;
  }
}

/** Makes a handler with `ctx.elicit` into an SDK callback that runs it again from the top in every round. */
export function awaitShim<Input, R extends CompleteResult>(
  handler: (input: Input, ctx: AwaitShimContext) => R | Promise<R>,
): SdkCallback<Input, R> {
  return shapeCallback<Input, R>('await-shim', async (input, ctx, call) => {
    const recall = new Recall(ctx, 'await-shim/2');
    const keys = new Set<string>();
    const elicit: Elicit = async (message, schema, options) => {
      const question = elicitation(message, schema, options);
      const key = nameQuestion(question, keys);
      keys.add(key);
      const answer = speaksMrtr(ctx) ? recall.read(key, question) : await askLive(ctx, key, question);
      if (answer.kind === 'accepted') return answer.value;
      if (isRefusal(answer)) throw new ElicitationDeclined(answer.kind, key);
      throw new Unwind(key, question);
    };
    const asked: AnswerPromise<unknown>[] = [];
    const context = handlerContext(ctx);
    publishEntry(call, 'await-shim');
    try {
      const result = await handler(input, {
        ...context,
        canAsk: (kind) => context.canAsk(kind) || canAskLive(ctx, kind),
        elicit: (message, schema, options) => {
          const answer = AnswerPromise.of(elicit(message, schema, options), `${message}`);
          asked.push(answer);
          return answer;
        },
      });
      const unread = AnswerPromise.unreadError(asked);
      if (unread) throw unread;
      return result;
    } catch (thrown) {
      if (thrown instanceof ElicitationDeclined) return endCancelled(call, thrown.key) as R;
      if (!(thrown instanceof Unwind)) throw thrown;
      return recall.ask({ [thrown.key]: thrown.question });
    }
  });
}

/** Names a question after the fields of its form. A number alone would shift when a question is inserted before it. */
function nameQuestion({ fields }: Elicitation, taken: ReadonlySet<string>): string {
  const base = fields.join('_') || 'answer';
  let key = base;
  for (let n = 2; taken.has(key); n++) key = `${base}-${n}`;
  return key;
}
