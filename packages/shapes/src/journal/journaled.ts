/**
 * Shape J: linear code without server memory. The handler is entered in each round, from the top, and every step
 * that has settled returns its recorded result at once; so an effect inside `run` happens in one round only, and
 * any instance can go on with the call.
 *
 * What is not wrapped runs again in every round. So keep effects in `run`, take times, random numbers and UUIDs from
 * the context, and in branches that run side by side await nothing else and leave open which is first: a later round
 * may see another order. `strict: true` finds the common slips.
 *
 * Deliberately not here: positional keys, which shift silently when a step is inserted.
 */
import {
  type Call,
  type CompleteResult,
  callOf,
  canAsk,
  ElicitationDeclined,
  elicitation,
  endCancelled,
  type InputKind,
  inputRequired,
  publish,
  type Question,
  type SdkCallback,
  type ServerContext,
  type StandardSchemaV1,
  type StandardSchemaWithJSON,
  StateTooLarge,
  tokenLength,
} from '@mrtr/core';
import { Idempotency } from '../idempotency.ts';
import { type Author, loadState, saveState } from '../shape.ts';
import { Journal } from './journal.ts';
import { insideStrictHandler, watchNondeterminism } from './nondeterminism.ts';
import { type Ending, type OnFailure, Replay } from './replay.ts';

const TAG = 'journal/1';

/** What a journaled handler gets. Every step has a key, unique in the call, and is known by it across deploys. */
export interface JournalContext {
  /** The SDK's context of this round. */
  readonly request: ServerContext;
  /** Whether the client of this round can be asked; see `canAsk` of `@mrtr/core`. */
  canAsk(kind: InputKind): boolean;
  /**
   * Asks the user. Questions that are awaited together go out as one round.
   *
   * @throws ElicitationDeclined with the action, when the user said no; left alone, it ends the call politely.
   * @throws CannotAsk when the client cannot be asked.
   */
  elicit<S extends StandardSchemaWithJSON>(
    key: string,
    message: string,
    schema: S,
  ): Promise<StandardSchemaV1.InferOutput<S>>;
  /** Asks anything that can be asked: an `elicitation`, a `sampling`, `listRoots`. Throws as {@link elicit} does. */
  ask<T>(key: string, question: Question<T>): Promise<T>;
  /**
   * Runs `fn` in one round of the call and returns its value in all of them. Effects awaited together run together.
   *
   * @param fn must return JSON (or nothing). There are no steps inside of it: a later round does not enter it.
   * @param options `onFailure`: `retry` (the default) lets each next round run it again until it succeeds; steps that
   * are taken only because it failed need `record`, which keeps the failure, and throws an `EffectFailed` of its name
   * and message in this round and all later ones.
   * @throws NotJson when the value would not survive a round.
   */
  run<T>(key: string, fn: () => T | Promise<T>, options?: { readonly onFailure?: OnFailure }): Promise<T>;
  /**
   * A key to hand to whoever performs the effect `key` elsewhere, so that it is done once even if this process dies
   * before it can record it: the same in every round, on every instance, and for a round that is presented again.
   */
  idempotencyKey(key: string): string;
  /** The time in milliseconds, the same in every round. Give a `key` where branches run side by side. */
  now(key?: string): number;
  /** A random number from 0 to 1, the same in every round. */
  random(key?: string): number;
  /** A random UUID, the same in every round. */
  uuid(key?: string): string;
}

/** What {@link journaled} takes. */
export interface JournalOptions {
  /**
   * For development: each new round first replays the journal without executing anything, and an unwrapped call of
   * `Date.now`, `Math.random` or `crypto.randomUUID` in the handler is an error that names its place. Default false.
   */
  readonly strict?: boolean;
}

/**
 * Makes a journaled handler into an SDK callback for a tool, a prompt or a resource.
 *
 * @throws JournalDiverged in the call, when a replay does not come to the steps that were recorded.
 * @throws StateTooLarge in the call, naming the largest steps, when the journal is over the policy's ceiling.
 * @example
 * server.registerTool('deploy', { inputSchema }, journaled(async ({ env }, ctx) => {
 *   const ticket = await ctx.run('ticket', () => openTicket(env));
 *   const { yes } = await ctx.elicit('sure', `Really deploy to ${env}?`, YesNo);
 *   return textResult(yes ? await ctx.run('deploy', () => deploy(env, ticket)) : 'Left alone.');
 * }));
 */
export function journaled<Input, R extends CompleteResult>(
  handler: Author<Input, JournalContext, R>,
  { strict = false }: JournalOptions = {},
): SdkCallback<Input, R> {
  if (strict) watchNondeterminism();
  return async (input, ctx) => {
    const call = callOf(ctx, 'journal');
    const saved = loadState(ctx, TAG);
    const idempotency = new Idempotency(call, saved?.i);
    const enter = (replay: Replay): Promise<Ending> => {
      publish('mrtr:handler', { shape: 'journal', target: call.target });
      const run = () => handler(input, journalContext(replay, ctx, idempotency));
      return replay.run(strict ? () => insideStrictHandler(run) : run);
    };
    const replayOptions = { canAsk: (kind: InputKind) => canAsk(ctx, kind) };
    if (strict && saved) {
      const rehearsal = new Journal(saved, ctx.mcpReq.inputResponses);
      orThrow(await enter(new Replay(rehearsal, { ...replayOptions, dry: true })));
    }
    const journal = new Journal(saved, ctx.mcpReq.inputResponses);
    const ending = await enter(new Replay(journal, replayOptions));
    if (ending.kind === 'returned') return ending.value as R;
    if (ending.kind === 'asked') {
      const asked = inputRequired({ inputRequests: ending.requests });
      const kept = { ...journal.save(ending.requests), i: idempotency.save() };
      return { ...asked, requestState: sized(saveState(TAG, kept), journal, call) };
    }
    if (ending.error instanceof ElicitationDeclined) return endCancelled(call) as R;
    throw ending.error;
  };
}

function orThrow(ending: Ending): void {
  if (ending.kind === 'threw' && !(ending.error instanceof ElicitationDeclined)) throw ending.error;
}

function journalContext(replay: Replay, request: ServerContext, idempotency: Idempotency): JournalContext {
  return {
    request,
    canAsk: (kind) => canAsk(request, kind),
    elicit: (key, message, schema) => replay.question(key, elicitation(message, schema)),
    ask: (key, question) => replay.question(key, question),
    run: (key, fn, { onFailure = 'retry' } = {}) => replay.effect(key, fn, onFailure),
    idempotencyKey: (key) => idempotency.key(key),
    now: (key) => replay.value('now', key),
    random: (key) => replay.value('random', key),
    uuid: (key) => replay.value('uuid', key),
  };
}

/** The boundary would refuse it as well, but could not say which steps it is. */
function sized(state: string, journal: Journal, { maxStateBytes }: Call): string {
  const bytes = tokenLength(Buffer.byteLength(state));
  if (bytes <= maxStateBytes) return state;
  const largest = journal.largest(3).map(({ key, bytes: size }) => `'${key}' (${size} bytes)`);
  throw new StateTooLarge(bytes, maxStateBytes, `The largest steps are ${largest.join(', ')}.`);
}
