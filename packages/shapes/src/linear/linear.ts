/**
 * Shape H: linear code that really waits. The handler runs once, from top to bottom. While its user thinks, it waits in
 * a {@link LinearStore}, and `requestState` carries the id of its continuation.
 *
 * The price is the store. `ContinuationStore` is memory in one process: another instance, or this one after a restart,
 * cannot resume the call and answers with an error. Route retries by the continuation (`locate`), use a durable store,
 * or use shape F, G, I or J.
 *
 * After a deploy: a call in memory ends with its process, and its client gets an error that says so. A durable store
 * resumes a call only if the new code takes the recorded steps and asks the open question in the same words. Otherwise
 * it rejects the call with the reason. Steps may be added behind the open question.
 *
 * Deliberately not here: any promise that a client comes back.
 */
import { inputRequired } from '@modelcontextprotocol/server';
import { ElicitationDeclined, StoreFull } from '@mrtr/core';
import {
  aFunction,
  anObjectWith,
  asRequired,
  notesOf,
  publish,
  requireArgument,
  requireOptions,
} from '@mrtr/core/internal';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import { type Call, endCall, endCancelled, shapeCallback, withNotes } from '@mrtr/core/shape';
import { ASKING_CHECKS, type AskingOptions } from '../kit/asking.ts';
import type { Author } from '../kit/state.ts';
import type { LinearContext } from './context.ts';
import { ContinuationLost } from './messages.ts';
import { continuationOf, continuationState, type LinearStore } from './store.ts';

/** The options of {@link linear}. */
export interface LinearOptions extends AskingOptions {
  /** Holds waiting handlers. It must outlive a request: make it outside the server factory. */
  readonly store: LinearStore;
}

/**
 * Makes a linear handler into an SDK callback for a tool, a prompt or a resource.
 *
 * @throws InvalidOption when the handler is not a function, without a store, and for another option.
 * @example
 * const store = new ContinuationStore();
 * server.registerTool('deploy', { inputSchema }, linear(async ({ env }, ctx) => {
 *   const ticket = await ctx.once('ticket', () => openTicket(env));         // runs once
 *   const { yes } = await ctx.elicit(words`Really deploy to ${env}?`, YesNo); // really waits
 *   return textResult(yes ? await deploy(env, ticket) : 'Left alone.');
 * }, { store, asks: ['elicitation'] }));
 */
export function linear<Input, R extends CompleteResult>(
  handler: Author<Input, LinearContext, R>,
  options: LinearOptions,
): SdkCallback<Input, R> {
  requireArgument('linear', 'handler', handler, aFunction);
  requireOptions('linear', options, { ...ASKING_CHECKS, store: asRequired(anObjectWith('runRound')) });
  const { store, asks } = options;
  const { servesTokensOnce } = store;
  return shapeCallback<Input, R>({ name: 'linear', asks, servesTokensOnce }, async (input, ctx, call) => {
    try {
      const turn = await store.runRound({ handler, input, id: continuationOf(ctx), call, ctx });
      for (const [key, unfit] of Object.entries(turn.unfit ?? {})) {
        // A handler that catches the error and asks again goes on, until its rounds are over. Its frame is parked by now.
        const goesOn = turn.kind === 'asked' && Object.hasOwn(turn.requests, key);
        call.reads.unfit.set(key, goesOn ? { ...unfit, end: undefined } : unfit);
      }
      if (turn.kind === 'returned') return turn.value as R;
      if (turn.kind === 'threw') throw turn.error;
      const asked = inputRequired({ inputRequests: turn.requests });
      return withNotes({ ...asked, requestState: continuationState(turn.id) }, turn);
    } catch (error) {
      // The cancelled handler may have had effects. Throw, so that the boundary records the outcome as lost.
      if (error instanceof ContinuationLost && ctx.mcpReq.signal.aborted) throw error;
      if (error instanceof ElicitationDeclined) return endCancelled(call, error.key) as R;
      if (error instanceof ContinuationLost || error instanceof StoreFull) return endWith(call, error) as R;
      throw error;
    }
  });
}

/** Ends the call with the error's message. Where no code of the author ran, the end says so. */
function endWith(call: Call, error: Error): CompleteResult {
  const { id, method, target } = call;
  const isFull = error instanceof StoreFull;
  const detail = isFull ? 'store_full' : 'continuation_lost';
  publish('mrtr:rejection', { reason: isFull ? 'busy' : 'lost', detail, call: id, method, target });
  const { notEntered = false } = notesOf(error);
  try {
    return withNotes(endCall(call, error.message), { notEntered });
  } catch (cause) {
    // Prompts and resources end with a JSON-RPC error.
    throw withNotes(cause, { notEntered });
  }
}
