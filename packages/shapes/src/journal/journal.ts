/**
 * Shape J: linear code without server memory. Each round enters the handler from the top, and every finished step
 * returns its recorded result at once. So an effect inside `once` happens in one round only, and any instance can
 * resume the call.
 *
 * Code that is not wrapped runs again in every round. So keep effects in `once`, and take times, random numbers and
 * UUIDs from the context. In concurrent branches, await only steps, and do not rely on their order: a later round may
 * see another one. `strict: true` finds the common mistakes.
 *
 * Await each question, before the next effect or together with it. While a question has no reader, no effect after it runs.
 *
 * After a deploy: steps may be added behind those that are recorded. If a recorded step was removed, renamed, reworded,
 * narrowed or widened, or a new step comes before it, the call stops (`JournalDiverged`), and nothing new executes. An
 * open question may change: it is asked again.
 *
 * Deliberately not here: positional keys, which shift silently when a step is inserted.
 */
import { ask, ElicitationDeclined, type Question, type Questions, StateTooLarge } from '@mrtr/core';
import { aBoolean, aFunction, requireArgument, requireOptions } from '@mrtr/core/internal';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import {
  type Call,
  endCancelled,
  publishEntry,
  shapeCallback,
  tokenLength,
  withNotes,
} from '@mrtr/core/shape';
import { ASKING_CHECKS, type AskingOptions } from '../kit/asking.ts';
import { type Ask, type HandlerContext, handlerContext } from '../kit/handler-context.ts';
import type { Once } from '../kit/recorded.ts';
import { type Author, loadState, saveState } from '../kit/state.ts';
import { insideStrictHandler, watchNondeterminism } from './nondeterminism.ts';
import { Journal } from './record.ts';
import { Replay } from './replay.ts';

const TAG = 'journal/2';

/** The context of a journaled handler. Every step has a key, unique in the call and the same across deploys. */
export interface JournalContext extends HandlerContext {
  /**
   * Asks one question, of any kind, or several in one round: then it waits for all of them. Questions that are awaited
   * together go out as one round. Await it before the next effect, or together with it: a forgotten `await` ends the
   * call.
   *
   * @throws ElicitationDeclined when the client refuses a question; uncaught, it ends the call politely.
   */
  readonly ask: Ask;
  /**
   * Runs `effect` in one round of the call and returns its value in all of them. Effects awaited together run together.
   *
   * @param effect must return JSON (or nothing). It must not contain steps, which throw there: a later round does not
   * enter it.
   * @param options `schema`: checks a recorded value; see `RecordedOptions`.
   * @throws EffectFailed with the name and the message of the effect's error, in this round and all later ones.
   * @throws NotJson when a later round would read another value.
   * @throws InvalidDefinition when the key comes twice in one round. Also before a new effect, when no code awaits an
   * earlier question: the call ends.
   */
  readonly once: Once;
  /** The time in milliseconds, the same in every round. Give a `key` in concurrent branches. */
  now(key?: string): number;
  /** A random number from 0 to 1, the same in every round. */
  random(key?: string): number;
  /** A random UUID, the same in every round. */
  uuid(key?: string): string;
}

/** The options of {@link journal}. */
export interface JournalOptions extends AskingOptions {
  /**
   * For development: each new round first replays the journal without executing anything, and an unwrapped call of
   * `Date.now`, `Math.random` or `crypto.randomUUID` in the handler is an error that names its place. Default false.
   */
  readonly strict?: boolean;
}

/**
 * Makes a journaled handler into an SDK callback for a tool, a prompt or a resource.
 *
 * @throws InvalidOption when the handler is not a function, and for an option that does not exist, or has a value that it cannot have.
 * @throws JournalDiverged in the call, when a replay does not reach the recorded steps.
 * @throws StateTooLarge in the call, naming the largest steps, when the journal is over the policy's limit.
 * @example
 * server.registerTool('deploy', { inputSchema }, journal(async ({ env }, ctx) => {
 *   const ticket = await ctx.once('ticket', () => openTicket(env));
 *   const { yes } = await ctx.ask('sure', elicitation(words`Really deploy to ${env}?`, YesNo));
 *   return textResult(yes ? await ctx.once('deploy', () => deploy(env, ticket)) : 'Left alone.');
 * }, { asks: ['elicitation'] }));
 */
export function journal<Input, R extends CompleteResult>(
  handler: Author<Input, JournalContext, R>,
  options: JournalOptions = {},
): SdkCallback<Input, R> {
  requireArgument('journal', 'handler', handler, aFunction);
  requireOptions('journal', options, { ...ASKING_CHECKS, strict: aBoolean });
  const { strict = false, asks } = options;
  return shapeCallback<Input, R>({ name: 'journal', asks }, async (input, ctx, call) => {
    const saved = loadState(ctx, TAG)?.j;
    const enter = (record: Journal, dry: boolean) => {
      const replay = new Replay(record, call, dry);
      publishEntry(call, 'journal');
      const run = () => handler(input, journalContext(replay, handlerContext(ctx)));
      return strict ? watchNondeterminism(() => replay.run(() => insideStrictHandler(run))) : replay.run(run);
    };
    const openJournal = () => new Journal(saved, call.asked, ctx.mcpReq.inputResponses);
    const rehearsed = strict && saved ? await enter(openJournal(), true) : undefined;
    if (rehearsed?.kind === 'threw' && !(rehearsed.error instanceof ElicitationDeclined))
      throw rehearsed.error;
    const record = openJournal();
    const ending = await enter(record, false);
    if (ending.kind === 'returned') return ending.value as R;
    if (ending.kind === 'asked') {
      const requestState = saveState(TAG, { j: record.entries });
      checkSize(requestState, ending.questions, record, call);
      return withNotes({ ...ask(ending.questions), requestState }, { effects: record.effects });
    }
    if (ending.error instanceof ElicitationDeclined) return endCancelled(call, ending.error.key) as R;
    throw ending.error;
  });
}

function journalContext(replay: Replay, context: HandlerContext): JournalContext {
  const own: Omit<JournalContext, keyof HandlerContext> = {
    ask: (...asked: [string, Question] | [Questions]) => replay.ask(...asked) as Promise<never>,
    once: replay.effect,
    now: (key) => replay.value('now', key),
    random: (key) => replay.value('random', key),
    uuid: (key) => replay.value('uuid', key),
  };
  return Object.assign(context, own);
}

/** Rejects a journal over the limit. The boundary does so too, but cannot name the largest steps. */
function checkSize(payload: string, questions: Questions, record: Journal, { limits, version }: Call) {
  const bytes = tokenLength(Object.keys(questions), { payload, version });
  if (bytes <= limits.stateBytes) return;
  const largest = record.largest(3).map(({ key, bytes: size }) => `'${key}' (${size} bytes)`);
  throw new StateTooLarge(bytes, limits.stateBytes, `The largest steps are ${largest.join(', ')}.`);
}
