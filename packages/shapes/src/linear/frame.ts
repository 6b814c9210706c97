/**
 * One running handler of shape H, and its questions.
 *
 * Invariants:
 * 1. The handler is started once. Each round only answers open questions.
 * 2. A round ends when the handler settles, or when it has asked, no step is running, and every microtask has run.
 * 3. Questions that are asked together share one promise. It settles when all answers fit, when the user refuses one
 *    question (which withdraws the others), or when the frame is aborted.
 * 4. After `abort`, every open question rejects, and so do later questions and steps, so `finally` blocks run.
 * 5. After `MAX_REJECTIONS` rejections, later questions never settle. A handler that keeps asking stops there and costs
 *    nothing. It counts as ended from then on, or when its last running step has ended.
 * 6. If a stopped handler asks again, it raced our promise against its own time limit. It is reported, and counts until
 *    it really settles.
 * 7. No effect starts while a question that was asked before it has no reader, and the handler does not return while any
 *    has none. Both end the call with an error, even if the handler catches it.
 * 8. A parked frame holds nothing of the SDK's `ctx`: that would keep some 20 KB of a finished request alive.
 * A hundred thousand frames may wait at once, so rarely used parts (a controller, a list) are made on demand.
 */
import type { InputRequests, InputResponses } from '@modelcontextprotocol/server';
import {
  type Answer,
  ElicitationDeclined,
  type InputKind,
  InvalidDefinition,
  type Question,
  type Questions,
  RoundsExceeded,
  type ServerContext,
} from '@mrtr/core';
import { OperatorWarning } from '@mrtr/core/events';
import {
  hasFallback,
  isQuestion,
  notAQuestionError,
  ownEntry,
  publish,
  readResponse,
  requireKeys,
  requireOptions,
  withCallInMessage,
} from '@mrtr/core/internal';
import { type Call, fallbackOf } from '@mrtr/core/shape';
import { afterMicrotasks } from '../kit/after-microtasks.ts';
import { AnswerPromise, handleRejection } from '../kit/answer-promise.ts';
import { insideEffect, isInsideEffect } from '../kit/effect-scope.ts';
import type { HandlerContext } from '../kit/handler-context.ts';
import {
  duplicateKeyError,
  RECORDED_CHECKS,
  type RecordedOptions,
  readRecorded,
  recordValue,
} from '../kit/recorded.ts';
import type { HandlerEnd, UnfitAnswers } from '../kit/state.ts';
import { guardListeners } from './guarded-signal.ts';
import { ContinuationLost } from './messages.ts';

/** How a round of a frame ended. */
export type FrameTurn = ({ readonly kind: 'asked'; readonly requests: InputRequests } | HandlerEnd) & {
  /** The answers that started the turn and did not fit. */
  readonly unfit?: UnfitAnswers | undefined;
};

/** Performs the step `key`: directly, or through the store that records it. */
export type Perform = (key: string, step: () => Promise<unknown>) => Promise<unknown>;

/** Counts the handlers that have not ended when their call has. */
export interface Overseer {
  /**
   * Whether a handler counts as ended when it waits for a promise of ours that never settles: until the first handler
   * continues after it counted as ended.
   */
  trustsStops: boolean;
  /** Counts the handler of `frame` again: it had counted as ended, and still runs. */
  takeBack(frame: Frame): void;
}

/** The promise of a question. */
class PendingAnswer {
  readonly promise: AnswerPromise<unknown>;
  resolve!: (answer: unknown) => void;

  constructor(keys: string) {
    this.promise = new AnswerPromise((resolve) => {
      this.resolve = resolve;
    }, keys);
  }

  accept(_key: string, value: unknown) {
    this.resolve(value);
  }

  /** By `resolve`: to keep the other function too would make each parked frame larger. */
  reject(reason: unknown) {
    this.resolve(handleRejection(Promise.reject(reason)));
  }
}

/** The promise of questions that were asked together. */
class PendingAnswers extends PendingAnswer {
  #missing: number;
  readonly #answers: Record<string, unknown>;

  constructor(keys: readonly string[]) {
    super(keys.join("', '"));
    this.#missing = keys.length;
    // In the order of the questions.
    this.#answers = Object.fromEntries(keys.map((key) => [key, undefined]));
  }

  override accept(key: string, value: unknown) {
    this.#answers[key] = value;
    if (--this.#missing === 0) this.resolve(this.#answers);
  }
}

interface OpenRound {
  readonly end: (turn: FrameTurn) => void;
  /** The answers that did not fit. */
  unfit?: UnfitAnswers;
}

interface Open {
  readonly key: string;
  readonly question: Question;
  readonly ask: PendingAnswer;
  /** How many answers in a row did not fit. Made on demand. */
  timesUnfit?: number;
}

/** What only an aborted frame has. */
interface Aborted {
  readonly reason: Error;
  readonly overseer: Overseer | undefined;
  rejections: number;
  /** Scheduled rejections: the branches that get them may ask again. */
  rejecting: number;
  /** Whether the handler counts as ended although it has not settled. */
  isStopped: boolean;
  /** The end of a call with a question that had no reader. */
  failure?: HandlerEnd;
  onEnded?: () => void;
}

const NONE: readonly never[] = [];
const ABORTED: HandlerEnd = { kind: 'returned', value: undefined };
const NOTHING: readonly InputKind[] = [];
const AT_ONCE: Perform = (_key, step) => step();

/** The rejections that an aborted handler gets. Later questions and steps never settle. */
const MAX_REJECTIONS = 100;

const NOT_STOPPED =
  'The handler is still running after its call ended, and still asks questions. Make it end when ctx.signal fires.';

/** Waits for the handler's own promise: another one around it would make each parked frame 250 bytes larger. */
function begin(handler: () => unknown): Promise<unknown> {
  try {
    return Promise.resolve(handler());
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * One started handler, for a store of your own. Its `request`, `askable` and `caller` are those of the round.
 *
 * @example
 * const frame = new Frame(call, report); // with a third argument, your store performs and records each `ctx.once`
 * frame.askable = call.askable;
 * frame.request = ctx;
 * const first = await frame.start(() => handler(input, new FrameContext(frame)));
 * // If it asked: keep the frame under an id, and send `first.requests` with `continuationState(id)`. In the next round:
 * const second = await frame.resume(ctx.mcpReq.inputResponses);
 */
export class Frame {
  #open: readonly Open[] = NONE;
  /** The questions, of which those that have a reader are removed when the frame parks. */
  #asked: readonly AnswerPromise<unknown>[] = NONE;
  #running = 0;
  #steps: Set<string> | undefined;
  #outcome: HandlerEnd | undefined;
  #current: OpenRound | undefined;
  #onSettled: (() => void) | undefined;
  #flushing = false;
  #controller: AbortController | undefined;
  #aborted: Aborted | undefined;
  #interrupted: Error | undefined;
  readonly #perform: Perform;
  readonly #report: (error: Error) => void;
  /** The call's id. */
  readonly call: string;
  /** The caller's pseudonym. */
  readonly pseudonym: string | undefined;
  /** The caller of the latest round. */
  caller: HandlerContext['caller'];
  readonly #method: Call['method'];
  readonly #target: string;
  /** The kinds of input that the client of the latest round can be asked for. */
  askable: readonly InputKind[] = NOTHING;
  /** The memory of the call's arguments, in bytes. */
  heldBytes = 0;
  /** The time when it expires without an answer. Here, and a small integer, because each word counts in a parked frame. */
  deadline = 0;
  /** The round that asked what it waits for. */
  round = 0;

  /** The request of the open round, to send progress and log messages on. Undefined while the frame is parked. */
  request: ServerContext | undefined;

  constructor(
    { id, pseudonym, method, target }: Pick<Call, 'id' | 'pseudonym' | 'method' | 'target'>,
    report: (error: Error) => void,
    perform = AT_ONCE,
  ) {
    this.call = id;
    this.pseudonym = pseudonym;
    this.#method = method;
    this.#target = target;
    this.#report = report;
    this.#perform = perform;
  }

  /** The call, for log lines. */
  get about(): Pick<Call, 'id' | 'pseudonym' | 'method' | 'target'> {
    return { method: this.#method, target: this.#target, id: this.call, pseudonym: this.pseudonym };
  }

  /** Starts the handler and runs its first round. */
  start(handler: () => unknown): Promise<FrameTurn> {
    const turn = this.#beginRound();
    begin(handler).then(
      (value) => this.#end({ kind: 'returned', value }),
      (error: unknown) => this.#end({ kind: 'threw', error }),
    );
    return turn;
  }

  /** Resumes the handler with the answers of a new round. */
  resume(responses: InputResponses | Readonly<Record<string, unknown>> | undefined): Promise<FrameTurn> {
    const turn = this.#beginRound();
    for (const open of this.#open) {
      if (this.#open.includes(open)) this.#answer(open, ownEntry(responses, open.key));
    }
    if (this.#outcome) this.#finishRound(this.#outcome);
    else this.#flushSoon();
    return turn;
  }

  /** Asks several questions; settles in a later round, with all answers. A refusal of one withdraws the others. */
  ask(questions: Questions): Promise<unknown> {
    requireKeys(questions);
    const entries = Object.entries(questions);
    if (entries.length === 0) return Promise.resolve({});
    const keys = entries.map(([key]) => key);
    this.#requireOutsideEffect(`The question '${keys.join("', '")}'`);
    const ask = new PendingAnswers(keys);
    return this.#put(
      entries.map(([key, question]) => ({ key, question, ask })),
      ask,
    );
  }

  /** Asks one question; settles in a later round, with its answer. */
  askOne(key: string, question: Question): Promise<unknown> {
    this.#requireOutsideEffect(`The question '${key}'`);
    requireKeys({ [key]: question });
    const ask = new PendingAnswer(key);
    return this.#put([{ key, question, ask }], ask);
  }

  /** Rejects a question that cannot be asked. Unread, it stops effects as others do. */
  rejectQuestion(key: string, error: unknown): Promise<unknown> {
    this.#requireOutsideEffect(`The question '${key}'`);
    const ask = new PendingAnswer(key);
    this.#asked = AnswerPromise.add(this.#asked, ask.promise);
    this.#reject(ask, error);
    return ask.promise;
  }

  /** Whether a question is open under `key`. */
  isOpen(key: string): boolean {
    return this.#open.some((open) => open.key === key);
  }

  /** Performs a step once in the whole call. Its key must be unique in the call. */
  step<T>(key: string, step: () => T | Promise<T>, options: RecordedOptions<T> = {}): Promise<T> {
    this.#requireOutsideEffect(`The step '${key}'`);
    return handleRejection(this.#step(key, step, options));
  }

  async #step<T>(key: string, step: () => T | Promise<T>, options: RecordedOptions<T>) {
    requireOptions('once', options, RECORDED_CHECKS);
    if (this.#aborted) return this.#rejectLater(this.#aborted);
    this.#steps ??= new Set();
    if (this.#steps.has(key)) throw duplicateKeyError(key);
    this.#steps.add(key);
    this.#running++;
    let ran = false;
    try {
      const unread = AnswerPromise.filterUnread(this.#asked);
      if (unread.length > 0) await this.#awaitReaders(unread, key);
      const value = await this.#perform(key, async () => {
        ran = true;
        publish('mrtr:effect', { call: this.call, shape: 'linear', key, phase: 'ran' });
        const value = await insideEffect(this, step);
        // A copy, as from a durable store: the author's changes to the value must not reach the record.
        return recordValue(`The value of once('${key}')`, value)[0];
      });
      return ran ? (value as T) : this.#readRecorded(key, value, options.schema);
    } finally {
      this.#running--;
      this.#endIfStopped();
      this.#flushSoon();
    }
  }

  /** Throws, and does not reject: so it stops the effect also where its author forgot an `await`. */
  #requireOutsideEffect(what: string) {
    if (!isInsideEffect(this)) return;
    throw new InvalidDefinition(
      `${what} is inside of a once, which is recorded as a whole. Take it before, and use its value.`,
    );
  }

  /** Waits until all microtasks have run. If one of `asked` has no reader then, ends the call before the effect `key`. */
  async #awaitReaders(asked: readonly AnswerPromise<unknown>[], key: string) {
    await new Promise<void>(afterMicrotasks);
    const reason = this.#failUnread(asked, key) ?? this.#aborted?.reason;
    if (!reason) return;
    this.#steps?.delete(key);
    throw reason;
  }

  /** If one of `asked` has no reader, ends the call and returns the error. */
  #failUnread(asked: readonly AnswerPromise<unknown>[], effect?: string): Error | undefined {
    const error = AnswerPromise.unreadError(asked, effect);
    if (!error) return undefined;
    this.abort(error);
    if (this.#aborted) this.#aborted.failure ??= { kind: 'threw', error };
    return error;
  }

  /** The keys of the effects that have begun. */
  get effects(): readonly string[] {
    return [...(this.#steps ?? [])];
  }

  /** Ends the frame: its signal fires, and its open questions reject with `reason`. */
  abort(reason: Error, overseer?: Overseer): void {
    if (this.#aborted || this.#outcome) return;
    this.#aborted = { reason, overseer, rejections: 0, rejecting: 0, isStopped: false };
    this.#controller?.abort(reason);
    for (const { ask } of this.#open) this.#reject(ask, reason);
  }

  /**
   * Fires the signal without ending the call, to interrupt running code. After `renewSignal`, later reads get a fresh
   * signal.
   */
  fireSignal(reason: Error): void {
    this.#interrupted = reason;
    this.#controller?.abort(reason);
  }

  /** Undoes {@link fireSignal} for later reads of the signal. */
  renewSignal(): void {
    if (this.#interrupted && !this.#aborted) this.#controller = undefined;
    this.#interrupted = undefined;
  }

  /** Fires when the frame is aborted or interrupted. Made on first read, because most handlers never read it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      guardListeners(this.#controller.signal, this.#report);
    }
    const reason = this.#aborted?.reason ?? this.#interrupted;
    if (reason) this.#controller.abort(reason);
    return this.#controller.signal;
  }

  /** Calls `then` when the handler has settled or counts as ended; at once if it already has. */
  whenSettled(then: () => void): void {
    if (this.#outcome) {
      then();
      return;
    }
    const before = this.#onSettled;
    this.#onSettled = () => {
      before?.();
      then();
    };
  }

  /** Calls `then` when a handler that counts as ended has really settled. */
  whenEnded(then: () => void): void {
    if (this.#aborted) this.#aborted.onEnded = then;
  }

  /** Checks a value that a durable store recorded. If it does not fit the schema, the call ends. */
  #readRecorded<T>(key: string, value: unknown, schema: RecordedOptions<T>['schema']) {
    const rejectState = (why: string): never => {
      const lost = new ContinuationLost(`This call cannot be resumed: ${why}. Start the call again.`);
      this.abort(lost);
      throw lost;
    };
    return readRecorded({ rejectState }, `once('${key}')`, [value], schema);
  }

  #beginRound(): Promise<FrameTurn> {
    return new Promise((end) => {
      this.#current = { end };
    });
  }

  #finishRound(turn: FrameTurn) {
    const { end, unfit } = this.#current ?? {};
    this.#current = undefined;
    end?.(unfit ? { ...turn, unfit } : turn);
  }

  /** Called when the handler has settled. */
  #end(outcome: HandlerEnd) {
    if (!this.#outcome) {
      if (outcome.kind === 'returned' && !this.#aborted) this.#failUnread(this.#asked);
      this.#settle(this.#aborted?.failure ?? outcome);
      return;
    }
    // It counted as ended before, and has now really settled.
    const aborted = this.#aborted;
    if (!aborted) return;
    aborted.isStopped = false;
    aborted.onEnded?.();
    delete aborted.onEnded;
  }

  #settle(outcome: HandlerEnd) {
    // Nobody reads the outcome of an aborted frame, and keeping it would burden the collector when many expire at once.
    this.#outcome = this.#aborted && !this.#aborted.failure ? ABORTED : outcome;
    this.#open = NONE;
    this.#finishRound(outcome);
    this.#onSettled?.();
    this.#onSettled = undefined;
  }

  #put(asked: readonly Open[], ask: PendingAnswer): Promise<unknown> {
    if (this.#aborted) return this.#rejectLater(this.#aborted);
    const wrong = this.#wrong(asked);
    this.#asked = AnswerPromise.add(this.#asked, ask.promise);
    if (wrong) {
      this.#reject(ask, wrong);
      return ask.promise;
    }
    const needed = asked.filter(({ question }) => !this.#needsNoAnswer(question));
    // The given list is kept where it can be: the other one has room for more, in each parked frame.
    const open = needed.length === asked.length ? asked : needed;
    if (open.length > 0) this.#open = this.#open.length === 0 ? open : [...this.#open, ...open];
    for (const one of asked) if (!open.includes(one)) ask.accept(one.key, fallbackOf(one.question, one.key));
    this.#flushSoon();
    return ask.promise;
  }

  /** Rejects in a later turn of the event loop, so that a handler that keeps asking does not block the others. */
  #rejectLater(aborted: Aborted): Promise<never> {
    if (aborted.isStopped) this.#takeBack(aborted);
    if (++aborted.rejections > MAX_REJECTIONS) {
      this.#endIfStopped();
      // A new promise each time: a shared one would hold every handler that waits for it.
      return new Promise(() => {});
    }
    aborted.rejecting++;
    const rejectNow = (reject: (reason: Error) => void) => {
      aborted.rejecting--;
      reject(aborted.reason);
      // The rejected branch may end without asking again.
      if (aborted.rejections > MAX_REJECTIONS) setImmediate(() => this.#endIfStopped());
    };
    return handleRejection(new Promise((_resolve, reject) => setImmediate(rejectNow, reject)));
  }

  /**
   * Counts the handler as ended if it can only wait for promises of ours that never settle: no step runs, and no branch
   * is about to get a rejection.
   */
  #endIfStopped() {
    const aborted = this.#aborted;
    if (!aborted || this.#outcome || aborted.rejections <= MAX_REJECTIONS) return;
    if (this.#running > 0 || aborted.rejecting > 0 || aborted.overseer?.trustsStops === false) return;
    aborted.isStopped = true;
    this.#settle({ kind: 'threw', error: aborted.reason });
  }

  /** Counts the handler again: it has asked once more, so it had not stopped. */
  #takeBack(aborted: Aborted) {
    aborted.isStopped = false;
    aborted.overseer?.takeBack(this);
    this.#report(withCallInMessage(new OperatorWarning('handlers_abandoned', NOT_STOPPED), this.about));
  }

  #wrong(asked: readonly Open[]) {
    const odd = asked.find(({ question }) => !isQuestion(question));
    if (odd) return notAQuestionError(odd.key);
    const taken = asked.find(({ key }) => this.isOpen(key))?.key;
    return taken === undefined
      ? undefined
      : new InvalidDefinition(`Two open questions have the key '${taken}'.`);
  }

  /** Whether the question's `fallback` is the answer, because this round's client cannot be asked. */
  #needsNoAnswer(question: Question) {
    return hasFallback(question) && !this.askable.includes(question.kind);
  }

  #answer(open: Open, response: unknown) {
    const { key, question, ask } = open;
    let read: { readonly answer: Answer<unknown>; readonly unfit?: UnfitAnswers[string] | undefined };
    try {
      read =
        response === undefined && this.#needsNoAnswer(question)
          ? { answer: { kind: 'accepted', value: fallbackOf(question, key) } }
          : readResponse(key, question, response, open.timesUnfit);
    } catch (error) {
      // The schema itself failed, so its error rejects the question.
      this.#reject(ask, error);
      return;
    }
    const { answer, unfit } = read;
    if (unfit) {
      if (this.#current) this.#current.unfit = { ...this.#current.unfit, [key]: unfit };
      open.timesUnfit = unfit.times;
    }
    if (answer.kind === 'missing' || answer.kind === 'invalid') {
      if (unfit?.end !== undefined) this.#reject(ask, new RoundsExceeded(unfit.end));
      return;
    }
    if (answer.kind !== 'accepted') {
      this.#reject(ask, new ElicitationDeclined(answer.kind, key));
      return;
    }
    this.#close((open) => open.ask === ask && open.key === key);
    ask.accept(key, answer.value);
  }

  #reject(rejected: PendingAnswer, reason: unknown) {
    this.#close(({ ask }) => ask === rejected);
    handleRejection(rejected.promise);
    rejected.reject(reason);
  }

  #close(which: (open: Open) => boolean) {
    const left = this.#open.filter((open) => !which(open));
    this.#open = left.length === 0 ? NONE : left;
  }

  // Wait for all microtasks: two branches may each await a ready value and then ask, and their questions belong in one
  // round.
  #flushSoon() {
    if (this.#flushing) return;
    this.#flushing = true;
    afterMicrotasks(() => {
      this.#flushing = false;
      if (this.#open.length === 0 || this.#running > 0 || !this.#current) return;
      this.#asked = AnswerPromise.filterUnread(this.#asked);
      const requests = this.#open.map(({ key, question }) => [key, question.request]);
      this.#finishRound({ kind: 'asked', requests: Object.fromEntries(requests) as InputRequests });
    });
  }
}
