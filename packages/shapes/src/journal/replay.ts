/**
 * One entry of a journaled handler: replays the recorded steps, then takes new ones.
 *
 * Invariants:
 * 1. A recorded step settles with its record and executes nothing.
 * 2. A new step, including a new answer, waits until the replay has caught up with its journal. If all is quiet and a
 *    recorded step was not reached, the handler has diverged, and nothing new executes.
 * 3. The round ends when the handler settles. It also ends when questions are open and all is quiet: no effect is
 *    running, and every microtask has run. After that, every new step of this entry stays pending for ever, unless the
 *    handler returned. The next round enters the handler anew.
 * 4. After a divergence every step and the round reject with the same error, even if the handler catches it.
 * 5. No new effect runs while a question that was asked before it has no reader, and the handler does not return while
 *    any has none. Both end the entry as a divergence does.
 * 6. The journal holds copies, so changes that the author makes to a value are made again in each round.
 */
import {
  ElicitationDeclined,
  InvalidDefinition,
  isRefusal,
  MrtrError,
  type Question,
  type Questions,
} from '@mrtr/core';
import {
  asError,
  hasFallback,
  isQuestion,
  notAQuestionError,
  publish,
  readingOf,
  readResponse,
  requireKeys,
  requireOptions,
} from '@mrtr/core/internal';
import { type Call, fallbackOf, isDigestOf, isFinal } from '@mrtr/core/shape';
import { afterMicrotasks } from '../kit/after-microtasks.ts';
import { AnswerPromise, handleRejection } from '../kit/answer-promise.ts';
import { insideEffect, isInsideEffect } from '../kit/effect-scope.ts';
import { copyJson } from '../kit/json.ts';
import {
  duplicateKeyError,
  type Once,
  RECORDED_CHECKS,
  type Recorded,
  type RecordedOptions,
  readRecorded,
  recordValue,
} from '../kit/recorded.ts';
import type { HandlerEnd } from '../kit/state.ts';
import { originals, outsideHandler } from './nondeterminism.ts';
import {
  type AskRecord,
  describeStep,
  type EffectRecord,
  type Journal,
  JournalDiverged,
  type StepKind,
  type StepRecord,
} from './record.ts';

/** How an entry ended. */
export type Ending = { readonly kind: 'asked'; readonly questions: Questions } | HandlerEnd;

/** A recorded failure of an effect, thrown again in every round. The first time, `cause` is the thrown value. */
export class EffectFailed extends MrtrError {
  static override readonly code = 'effect_failed';
  readonly #name: string;

  constructor([name, message]: readonly [string, string], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.#name = name;
  }

  /** The name of the recorded error. */
  override get name(): string {
    return this.#name;
  }
}

/** A step that waits until the replay has caught up with its journal. */
class Latch {
  open!: () => void;
  fail!: (error: MrtrError) => void;
  readonly opened = new Promise<void>((resolve, reject) => {
    this.open = resolve;
    this.fail = reject;
  });
}

/** One entry. */
export class Replay {
  readonly #journal: Journal;
  readonly #call: Call;
  readonly #dry: boolean;
  readonly #keys = new Set<string>();
  readonly #open = new Map<string, Question>();
  readonly #ordinals = new Map<StepKind, number>();
  readonly #running = new Set<Promise<unknown>>();
  /** The questions, of which those that have a reader are removed from time to time. */
  #asked: readonly AnswerPromise<unknown>[] = [];
  #caughtUp: Latch | undefined;
  #watching = false;
  #failed: MrtrError | undefined;
  #ended = false;
  #end!: (ending: Ending) => void;
  readonly #ending = new Promise<Ending>((resolve) => {
    this.#end = resolve;
  });

  /** @param dry replays only: the entry ends at the first new step, which does not execute. */
  constructor(journal: Journal, call: Call, dry: boolean) {
    this.#journal = journal;
    this.#call = call;
    this.#dry = dry;
  }

  /** Runs the handler until it settles, or until it needs answers. */
  run(handler: () => unknown): Promise<Ending> {
    Promise.resolve()
      .then(handler)
      .then(
        (value) => this.#settle({ kind: 'returned', value }),
        (error: unknown) => this.#settle({ kind: 'threw', error }),
      );
    return this.#ending;
  }

  /** Asks one question, or several, and waits for all of them. */
  ask(...asked: [key: string, question: Question] | [questions: Questions]): Promise<unknown> {
    const [first] = asked;
    const keys = typeof first === 'string' ? first : Object.keys(first).join("', '");
    this.#requireOutsideEffect(keys);
    const answer = asked.length === 1 ? this.#questions(asked[0]) : this.#question(...asked);
    const tracked = AnswerPromise.of(answer, keys);
    this.#asked = AnswerPromise.add(this.#asked, tracked);
    return tracked;
  }

  readonly effect: Once = (key, fn, options = {}) => {
    this.#requireOutsideEffect(key);
    return handleRejection(this.#effect(key, fn, options));
  };

  /** Returns the recorded value of `key`, or records a new one. */
  value<T>(kind: 'now' | 'random' | 'uuid', key: string | undefined): T {
    const ordinal = (this.#ordinals.get(kind) ?? 0) + 1;
    if (key === undefined) this.#ordinals.set(kind, ordinal);
    const name = key ?? `${kind}#${ordinal}`;
    this.#requireOutsideEffect(name);
    const entry = this.#reach(name, kind);
    if (entry) return entry[1] as T;
    // This is synchronous, so it cannot wait for the replay. It need not: without a new answer or effect, the code came
    // this far in the round before too.
    const missed = this.#journal.unreached;
    if (missed !== undefined) throw this.#fail(this.#divergence(missed, `step '${name}'`));
    const value = originals[kind]();
    this.#journal.entries[name] = [kind, value];
    return value as T;
  }

  async #questions(questions: Questions): Promise<unknown> {
    requireKeys(questions);
    const asked = Object.entries(questions).map(
      async ([key, question]) => [key, await this.#question(key, question)] as const,
    );
    return Object.fromEntries(await Promise.all(asked));
  }

  async #question(key: string, question: Question) {
    if (!isQuestion(question)) throw notAQuestionError(key);
    requireKeys({ [key]: question });
    const entry = this.#reach(key, 'ask') as AskRecord | undefined;
    if (entry && !isDigestOf(entry[1], question))
      throw this.#fail(new JournalDiverged(key, 'another question', `"${question.message}"`));
    if (entry) return this.#readAnswer(key, question, entry);
    if (!(await this.#mayExecute())) return neverSettle();
    const answer = this.#newAnswer(key, question);
    if (answer) {
      this.#journal.entries[key] = answer;
      return this.#readAnswer(key, question, answer);
    }
    this.#open.set(key, question);
    this.#watch();
    return neverSettle();
  }

  #newAnswer(key: string, question: Question): AskRecord | undefined {
    const { digest, kind } = question;
    const response = this.#journal.response(key, question);
    const { reads, timesUnfit } = this.#call;
    const { answer, unfit } = readResponse(key, question, response, timesUnfit.get(key));
    reads.note(key, this.#journal.isReworded(key, question) ? 'reworded' : readingOf(answer), unfit);
    if (isFinal(answer)) return unfit ? ['ask', digest] : ['ask', digest, copyJson(question.keep(response))];
    return hasFallback(question) && !this.#call.askable.includes(kind) ? ['ask', digest] : undefined;
  }

  async #effect<T>(key: string, fn: () => T | Promise<T>, options: RecordedOptions<T>) {
    requireOptions('once', options, RECORDED_CHECKS);
    const entry = this.#reach(key, 'once') as EffectRecord | undefined;
    const [, value, failure] = entry ?? [];
    if (value) {
      this.#publishEffect(key, 'skipped');
      if (failure) throw new EffectFailed(failure);
      return this.#readRecorded(key, value, options.schema);
    }
    const before = AnswerPromise.filterUnread(this.#asked);
    if (!(await this.#mayExecute())) return neverSettle();
    const running = this.#execute(key, fn, before);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
      this.#watch();
    }
  }

  #readRecorded<T>(key: string, value: Recorded, schema: RecordedOptions<T>['schema']) {
    try {
      return readRecorded(this.#call, `once('${key}')`, value, schema);
    } catch (error) {
      // Nothing new executes after this.
      this.#finish({ kind: 'threw', error });
      throw error;
    }
  }

  /** @param before the questions that had no reader when the author called. */
  async #execute<T>(key: string, fn: () => T | Promise<T>, before: readonly AnswerPromise<unknown>[]) {
    if (AnswerPromise.filterUnread(before).length > 0) {
      await flushMicrotasks();
      const unread = AnswerPromise.unreadError(before, key);
      if (unread) throw this.#fail(unread);
      if (this.#ended) return neverSettle();
    }
    const { entries } = this.#journal;
    this.#publishEffect(key, 'ran');
    let value: T;
    try {
      value = await insideEffect(this, () => outsideHandler(fn));
    } catch (error) {
      entries[key] = ['once', [], failureOf(error)];
      throw new EffectFailed(failureOf(error), error);
    }
    try {
      entries[key] = ['once', recordValue(`The value of once('${key}')`, value)];
    } catch (error) {
      // The effect happened all the same, and must not happen again.
      entries[key] = ['once', [], failureOf(error)];
      throw error;
    }
    return value;
  }

  /** Throws, and does not reject: so it stops the effect also where its author forgot an `await`. */
  #requireOutsideEffect(key: string) {
    if (!isInsideEffect(this)) return;
    throw new InvalidDefinition(
      `The step '${key}' is inside of a once, which later rounds do not enter. Take it before, and use its value.`,
    );
  }

  #reach(key: string, kind: StepKind): StepRecord | undefined {
    if (this.#failed) throw this.#failed;
    if (this.#keys.has(key)) throw duplicateKeyError(key, 'step');
    this.#keys.add(key);
    try {
      return this.#journal.reach(key, kind);
    } catch (error) {
      throw error instanceof JournalDiverged ? this.#fail(error) : error;
    }
  }

  /** Whether a new step may execute: the replay has caught up with its journal, and the round is not over. */
  async #mayExecute() {
    if (this.#journal.unreached !== undefined) {
      this.#caughtUp ??= new Latch();
      this.#watch();
      await this.#caughtUp.opened;
    }
    if (this.#dry) this.#finish({ kind: 'asked', questions: {} });
    return !this.#ended;
  }

  /** Waits until all is quiet. Then the waiting steps execute; if there are none, the open questions go out. */
  async #watch() {
    if (this.#watching) return;
    this.#watching = true;
    do {
      if (this.#running.size > 0) await Promise.allSettled(this.#running);
      await flushMicrotasks();
    } while (this.#running.size > 0 || this.#settleLatch());
    this.#watching = false;
    if (this.#open.size === 0) return;
    this.#finish({ kind: 'asked', questions: Object.fromEntries(this.#open) });
  }

  #settleLatch() {
    const latch = this.#caughtUp;
    if (!latch) return false;
    this.#caughtUp = undefined;
    const missed = this.#journal.unreached;
    if (missed === undefined) latch.open();
    else {
      const came = [...this.#keys].findLast((key) => this.#journal.entries[key] === undefined);
      latch.fail(this.#fail(this.#divergence(missed, came === undefined ? undefined : `step '${came}'`)));
    }
    return true;
  }

  #divergence(key: string, came: string | undefined) {
    return new JournalDiverged(key, describeStep(this.#journal.entries[key]?.[0] ?? 'ask'), came);
  }

  #fail(error: MrtrError) {
    this.#failed ??= error;
    this.#finish({ kind: 'threw', error: this.#failed });
    return this.#failed;
  }

  #readAnswer(key: string, question: Question, entry: AskRecord) {
    if (entry.length === 2 && hasFallback(question)) return fallbackOf(question, key);
    const answer = question.read(copyJson(entry[2]));
    if (answer.kind === 'accepted') return answer.value;
    if (isRefusal(answer)) throw new ElicitationDeclined(answer.kind, key);
    const came = `"${question.message}", which it does not fit`;
    throw this.#fail(new JournalDiverged(key, 'an answer', came));
  }

  #publishEffect(key: string, phase: 'ran' | 'skipped') {
    outsideHandler(() => publish('mrtr:effect', { call: this.#call.id, shape: 'journal', key, phase }));
  }

  #settle(ending: Ending) {
    const missed = this.#ended ? undefined : this.#journal.unreached;
    const unread = ending.kind === 'returned' ? AnswerPromise.unreadError(this.#asked) : undefined;
    const error = missed === undefined ? unread : this.#divergence(missed, 'its end');
    if (error) this.#fail(error);
    else this.#finish(ending);
  }

  #finish(ending: Ending) {
    // Effects still running when the handler returned must finish, because no later round would run them.
    this.#ended ||= ending.kind !== 'returned';
    this.#end(ending);
  }
}

const flushMicrotasks = (): Promise<void> => new Promise(afterMicrotasks);

/** A promise that never settles. It is collected together with the code that waits for it. */
const neverSettle = (): Promise<never> => new Promise(() => {});

function failureOf(thrown: unknown): readonly [name: string, message: string] {
  const { name, message } = asError(thrown);
  return [name, message];
}
