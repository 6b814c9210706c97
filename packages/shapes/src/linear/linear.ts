/**
 * Shape H: linear code that really waits. The handler runs once, front to back; while its user thinks, its
 * frame is parked in a {@link ContinuationStore}, and `requestState` carries the frame's id.
 *
 * The price is memory in one process: another instance, or this one after a restart, cannot go on with the
 * call and says so. Route by the continuation (`locate`), or take shape F, G, I or J.
 *
 * Deliberately not here: moving a frame to another process, and any promise that a client comes back.
 */
import {
  type Answers,
  type Call,
  CannotAsk,
  type CompleteResult,
  ContinuationLost,
  callOf,
  canAsk,
  ElicitationDeclined,
  elicitation,
  endCall,
  endCancelled,
  type InputKind,
  inputRequired,
  publish,
  type Questions,
  routeBy,
  type SdkCallback,
  type ServerContext,
  type StandardSchemaV1,
  type StandardSchemaWithJSON,
  StoreFull,
  speaksMrtr,
} from '@mrtr/core';
import { Idempotency } from '../idempotency.ts';
import { questionKey } from '../question-key.ts';
import { type Author, handled, loadState, saveState } from '../shape.ts';
import { CLIENT_CANCELLED, type ContinuationStore } from './continuation-store.ts';
import { Frame, refused, type Turn } from './frame.ts';

const TAG = 'linear/1';

/** What a linear handler gets: small on purpose, because parking keeps all of it alive. */
export interface LinearContext {
  /** Fires when the call is given up: its client cancelled, its time is over, or the store was closed. */
  readonly signal: AbortSignal;
  /** A digest of who is calling, or undefined where nobody is authenticated. */
  readonly principal: string | undefined;
  /** Whether the client of the latest round can be asked; see `canAsk` of `@mrtr/core`. */
  canAsk(kind: InputKind): boolean;
  /** A key to hand to whoever performs the effect `key` elsewhere, so that it is done once: the same in the whole call. */
  idempotencyKey(key: string): string;
  /**
   * Asks and waits. Questions that are asked together go out as one round.
   *
   * @throws ElicitationDeclined with the action, when the user said no; left alone, it ends the call politely.
   * @throws CannotAsk when the client cannot be asked; nothing is sent.
   * @throws ContinuationLost when the call is given up while it waits.
   */
  elicit<S extends StandardSchemaWithJSON>(
    message: string,
    schema: S,
  ): Promise<StandardSchemaV1.InferOutput<S>>;
  /**
   * Asks several questions in one round and waits for all of them. Throws as {@link elicit} does; a question that is
   * declined takes the others back.
   */
  ask<Q extends Questions>(questions: Q): Promise<Answers<Q>>;
}

/** What {@link linear} takes. */
export interface LinearOptions {
  /** Holds the parked frames. It must outlive a request: make it beside the server factory, not inside. */
  readonly store: ContinuationStore;
  /**
   * Says, whenever a frame is parked, where that is: a label of this instance, as the server's own router knows
   * it (`routeBy` of `@mrtr/core` says what may be in one). `requestState` then ends in `~label`, readable for
   * everybody and changeable for nobody. Left out, or undefined: no label, and any instance may get the retry.
   */
  readonly locate?: (() => string | undefined) | undefined;
}

/**
 * Makes a linear handler into an SDK callback for a tool, a prompt or a resource.
 *
 * @example
 * const store = new ContinuationStore();
 * server.registerTool('deploy', { inputSchema }, linear(async ({ env }, ctx) => {
 *   const ticket = await openTicket(env);                                   // runs once
 *   const { yes } = await ctx.elicit(`Really deploy to ${env}?`, YesNo);    // really waits
 *   return textResult(yes ? await deploy(env, ticket) : 'Left alone.');
 * }, { store }));
 */
export function linear<Input, R extends CompleteResult>(
  handler: Author<Input, LinearContext, R>,
  { store, locate }: LinearOptions,
): SdkCallback<Input, R> {
  return async (input, ctx) => {
    const call = callOf(ctx, 'linear');
    try {
      const id = continuationOf(ctx);
      const frame = id === undefined ? store.admit(new Frame(call.principal)) : store.take(id);
      if (id === undefined) publish('mrtr:handler', { shape: 'linear', target: call.target });
      const run = () =>
        id === undefined
          ? frame.start(() => handler(input, linearContext(frame)))
          : frame.resume(ctx.mcpReq.inputResponses);
      return (await runRound(frame, run, { call, ctx, store, locate })) as R;
    } catch (error) {
      if (error instanceof ElicitationDeclined) return endCancelled(call) as R;
      if (error instanceof ContinuationLost || error instanceof StoreFull)
        return endCall(call, error.message) as R;
      throw error;
    }
  };
}

type Round = LinearOptions & { readonly call: Call; readonly ctx: ServerContext };

async function runRound(
  frame: Frame,
  run: () => Promise<Turn>,
  { call, ctx, store, locate }: Round,
): Promise<unknown> {
  const { signal } = ctx.mcpReq;
  const giveUp = () => frame.abort(new ContinuationLost(CLIENT_CANCELLED));
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  frame.askable = KINDS.filter((kind) => canAsk(ctx, kind));
  try {
    const turn = await run();
    if (turn.kind === 'asked' && call.round < call.maxRounds) {
      const asked = inputRequired({ inputRequests: turn.requests });
      if (Object.keys(turn.requests).length > call.maxQuestions) {
        // The boundary refuses it, and a frame that nobody can answer must not wait.
        store.giveUp(frame, 'The call asked too many questions at once.');
        return asked;
      }
      const id = park(frame, { call, store, locate });
      // The shim's rounds are one request: its end is the call's, and a frame that waits for it would leak.
      if (!speaksMrtr(ctx)) signal.addEventListener('abort', () => store.discard(id), { once: true });
      return { ...asked, requestState: saveState(TAG, { c: { id } }) };
    }
    if (turn.kind === 'asked')
      throw store.giveUp(frame, `This call still needs input after ${call.maxRounds} rounds.`);
    store.release(frame);
    if (turn.kind === 'threw') throw turn.error;
    return turn.value;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function park(frame: Frame, { call, store, locate }: Omit<Round, 'ctx'>): string {
  try {
    const label = locate?.();
    if (label !== undefined) routeBy(call, label);
  } catch (error) {
    // A frame that no retry can be led to must not wait for one.
    store.giveUp(frame, 'This server cannot say where the call goes on.');
    throw error;
  }
  return store.park(frame);
}

const KINDS: readonly InputKind[] = ['elicitation', 'sampling', 'roots'];

function linearContext(frame: Frame): LinearContext {
  const idempotency = new Idempotency({ tokenId: undefined });
  const canAsk = (kind: InputKind) => frame.askable.includes(kind);
  const ask = <Q extends Questions>(questions: Q): Promise<Answers<Q>> => {
    const unaskable = Object.values(questions).find(({ kind }) => !canAsk(kind));
    if (!unaskable) return handled(frame.ask(questions) as Promise<Answers<Q>>);
    const { message } = unaskable;
    return handled(refused(new CannotAsk(`The client cannot be asked "${message}". Test ctx.canAsk first.`)));
  };
  const elicit = async <S extends StandardSchemaWithJSON>(message: string, schema: S) => {
    const question = elicitation(message, schema);
    const key = questionKey(question, (key) => frame.isOpen(key));
    return (await ask({ [key]: question }))[key] as StandardSchemaV1.InferOutput<S>;
  };
  return {
    get signal() {
      return frame.signal;
    },
    principal: frame.principal,
    idempotencyKey: (key) => idempotency.key(key),
    canAsk,
    ask,
    elicit: (message, schema) => handled(elicit(message, schema)),
  };
}

function continuationOf(ctx: ServerContext): string | undefined {
  const saved = loadState(ctx, TAG)?.c;
  return (saved as { readonly id: string } | undefined)?.id;
}
