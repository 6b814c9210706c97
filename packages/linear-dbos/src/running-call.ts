/**
 * One call that runs in this process, as a workflow that DBOS records.
 *
 * Invariants:
 * 1. Records come in one order, also when the handler is run again: one step at a time, in the order in which they were
 *    called, and none while the call waits for an answer.
 * 2. A turn is published once, and only by the instance that owns the call.
 * 3. The workflow returns only when the call is over. If another instance resumes the call, the workflow here hangs:
 *    if it returned, DBOS would record it as done, and no instance could resume it.
 * 4. A published turn ran all of its steps, so running it again executes none. A step without a record in such a turn
 *    belongs to other code: it ends the call before it executes.
 * 5. A failure of DBOS ends the call, and never reaches the author's handler.
 * 6. A step starts only while this instance owns the call for certain: in each turn it looks before the first one, and
 *    again after its session was lost.
 */
import {
  DBOS,
  DBOSStepNondeterminismError,
  DBOSWorkflowConflictError,
  Error as DbosErrors,
} from '@dbos-inc/dbos-sdk';
import type { InputRequests } from '@modelcontextprotocol/server';
import type { RequestStatePolicy, ServerContext } from '@mrtr/core';
import { publish } from '@mrtr/core/events';
import { withCallInMessage } from '@mrtr/core/kit';
import { keyRingOf } from '@mrtr/core/seal';
import { askProblem, questionDigest } from '@mrtr/core/shape';
import { ContinuationLost } from '@mrtr/shapes/linear';
import {
  continuationState,
  Frame,
  FrameContext,
  type FrameTurn,
  heldBytes,
  type LinearRound,
  UNANSWERED,
} from '@mrtr/shapes/linear-store';
import {
  type CallHeader,
  type CallKey,
  errorRecord,
  hashAnswers,
  type Message,
  revivedError,
  type StepRecord,
  saltedHash,
  type TurnRecord,
  Unopened,
} from './records.ts';
import { NEVER, type Runtime } from './runtime.ts';
import type { TurnListeners } from './turn-listeners.ts';

/** The store that a call runs in. */
export interface CallHost {
  readonly instance: string;
  readonly ttlSeconds: number;
  readonly runtime: Runtime;
  readonly policy: RequestStatePolicy;
  readonly turnListeners: TurnListeners;
  report(error: Error): void;
  /** The call no longer runs here. */
  ended(call: RunningCall): void;
  /** The call no longer runs here, and is not over: another instance may run it. */
  letGo(call: RunningCall): void;
}

/** How long the result of a call is kept, in seconds: a request may wait for it on another instance. */
export const KEEP_SECONDS = 60;
/** How often a parked call looks for an answer whose notification was lost. Each look is two statements. */
export const LOOK_AGAIN_MS = 20_000;

const INTERRUPTED =
  'This server cannot reach its calls now. Another server may continue this call. Send the same answer again.';

/** How many unsealed messages of a turn are skipped. */
const MAX_FORGED = 100;
const DIVERGED =
  'This call cannot be resumed: its handler took other steps than it took before. Start the call again.';
/** The message of a call that ends because DBOS or the database failed. */
export const UNRECORDED = 'This call cannot be resumed: it could not be recorded. Start the call again.';

/** A call that was started here or taken over. */
export class RunningCall {
  readonly id: string;
  readonly #callKey: CallKey;
  readonly #head: CallHeader;
  readonly #handler: LinearRound['handler'];
  readonly #host: CallHost;
  readonly #frame: Frame;
  /** The latest published turn. Earlier turns only run again to bring the handler back to its place. */
  published: number;
  /** The turn that is open, or is run again. */
  #turn = 1;
  #fail!: (error: unknown) => void;
  readonly #failed = new Promise<never>((_resolve, reject) => {
    this.#fail = reject;
  });
  #steps: Promise<unknown> = Promise.resolve();
  #released = false;
  /** Why it was ended from outside. */
  #aborted: string | undefined;
  /** Another instance that waits for the open turn. */
  #tell: string | undefined;
  /** The digest of the answers that started the open turn. */
  #answered: string | undefined;
  /** The caller's pseudonym from the latest answer. */
  #pseudonym: string | undefined;
  /** Whether DBOS has begun to run it. */
  hasBegun = false;
  /** How many sessions this instance had lost when it last saw that it owns the call. Undefined before a turn's first look. */
  #ownedAfterLosses: number | undefined;
  /** The request of the open round, if it came to this process: progress and log messages go out on it. */
  request: ServerContext | undefined;
  /** The memory that its arguments hold, in bytes, estimated. */
  readonly heldBytes: number;
  /** The turn whose answers the call waits for. */
  parkedAt: number | undefined;

  constructor(
    callKey: CallKey,
    head: CallHeader,
    handler: LinearRound['handler'],
    published: number,
    host: CallHost,
  ) {
    this.id = callKey.call;
    this.#callKey = callKey;
    this.#head = head;
    this.heldBytes = heldBytes(head.input);
    this.#pseudonym = head.pseudonym;
    this.#handler = handler;
    this.published = published;
    this.#host = host;
    this.#failed.catch(() => {});
    const perform = (key: string, step: () => Promise<unknown>) => this.#perform(key, step);
    this.#frame = new Frame({ ...head, id: this.id }, host.report, perform);
    this.#frame.askable = head.askable;
    this.#frame.caller = head.caller;
  }

  /** The workflow. Resolves when the call is over. */
  async run(): Promise<void> {
    this.hasBegun = true;
    try {
      await this.#turns();
    } catch (error) {
      if (error instanceof DBOSWorkflowConflictError) {
        this.#host.letGo(this);
        throw error; // DBOS waits for its new owner.
      }
      if (this.#released) await NEVER;
      this.#report(error);
      const why = isDivergence(error) ? DIVERGED : UNRECORDED;
      this.#frame.abort(new ContinuationLost(why));
      await this.#publish({ kind: 'lost', why });
    } finally {
      this.#host.ended(this);
    }
  }

  #report(error: unknown): void {
    this.#host.report(withCallInMessage(error, this.#frame.about));
  }

  /** Ends the call from outside: its client cancelled it, or has gone. */
  abort(why: string): void {
    this.#aborted = why;
    this.#frame.abort(new ContinuationLost(why));
    const turn = this.parkedAt;
    if (turn === undefined) return;
    // The call waits inside DBOS for a message. An answer that came first also wakes it.
    const message: Message = { askable: [], from: this.#host.instance };
    const sealed = this.#callKey.seal(message, `answers ${turn}`).toString('base64');
    this.#host.runtime.send(this.id, sealed, String(turn)).catch((error) => this.#report(error));
  }

  /** The request of its open round was answered, so progress and log messages have no request to go out on. */
  forgetRequest(request: ServerContext): void {
    if (this.request !== request) return;
    this.request = undefined;
    this.#frame.request = undefined;
  }

  /** Abandons the call as if this process had died, so that another instance can resume it. */
  release(): void {
    this.#released = true;
  }

  /** This instance cannot show any more that it lives. What runs may have to stop; no step starts until it can again. */
  interrupt(): void {
    if (this.parkedAt === undefined) this.#frame.fireSignal(new ContinuationLost(INTERRUPTED));
  }

  /** This instance is shown as alive again. */
  continue(): void {
    this.#frame.renewSignal();
  }

  /**
   * Gives the call up if its turn runs, since another instance may take it over: its handler is refused every further step.
   *
   * @returns when the handler has ended; undefined for a call that waits for its user, of which nothing runs.
   */
  giveUp(): Promise<void> | undefined {
    if (this.parkedAt !== undefined) return undefined;
    this.release();
    this.#frame.abort(new ContinuationLost(INTERRUPTED));
    this.#host.ended(this);
    return new Promise((resolve) => this.#frame.whenSettled(resolve));
  }

  async #turns(): Promise<void> {
    const { target, isUri } = this.#head;
    const input = isUri ? new URL(this.#head.input as string) : this.#head.input;
    publish('mrtr:handler', { call: this.id, shape: 'linear', target, part: 'handler' });
    const context = new FrameContext(this.#frame, this.id);
    this.#reportsFrom(1);
    let pause = this.#frame.start(() => this.#handler(input as never, context));
    for (let turn = 1; ; turn++) {
      const record = this.#recordOf(await Promise.race([pause, this.#failed]), turn);
      const waits = record.kind === 'asked' && !record.overLimit;
      this.parkedAt = waits ? turn : undefined;
      if (turn <= this.published && !waits) throw new Diverged(`Turn ${turn} of call ${this.id} had asked.`);
      if (turn > this.published && !(await this.#publish(record))) break;
      const message = waits ? await this.#answers(turn) : undefined;
      if (!message) break;
      if (this.#aborted !== undefined) {
        await this.#publish({ kind: 'lost', why: this.#aborted });
        break;
      }
      if (record.kind === 'asked') checkAsked(record.requests, message.asked, turn);
      this.#frame.askable = message.askable;
      this.#frame.caller = message.caller;
      this.#pseudonym = message.pseudonym;
      this.#answered = hashAnswers(message.responses, this.#head);
      this.#tell = message.from === this.#host.instance ? undefined : message.from;
      this.#ownedAfterLosses = undefined;
      this.#reportsFrom(turn + 1);
      pause = this.#frame.resume(message.responses);
    }
    this.parkedAt = undefined;
    await new Promise<void>((resolve) => this.#frame.whenSettled(resolve));
  }

  /** Reports only new turns: a turn that is run again was reported the first time. */
  #reportsFrom(turn: number): void {
    this.#frame.request = turn > this.published ? this.request : undefined;
  }

  #recordOf(pause: FrameTurn, turn: number): TurnRecord {
    if (pause.kind === 'threw') return { kind: 'threw', error: errorRecord(pause.error) };
    if (pause.kind === 'asked') return this.#recordQuestions(pause.requests, turn);
    try {
      JSON.stringify(pause.value);
      return pause;
    } catch (error) {
      return { kind: 'threw', error: errorRecord(error) };
    }
  }

  #recordQuestions(requests: InputRequests, round: number): TurnRecord {
    const { maxRounds, maxQuestions, maxStateBytes, version } = this.#head;
    const limits = { round, maxRounds, maxQuestions, maxStateBytes, version, askable: this.#frame.askable };
    const problem = askProblem(limits, requests, { requestState: continuationState(`${this.id}.${round}`) });
    if (problem === undefined) return { kind: 'asked', requests };
    this.#frame.abort(new ContinuationLost(problem.message));
    return { kind: 'asked', requests, overLimit: problem.message, effects: this.#frame.effects };
  }

  /** Ends the open turn. Returns false if the call is over; hangs if another instance owns the call. */
  async #publish(record: TurnRecord): Promise<boolean> {
    const { runtime, instance, turnListeners, policy, ttlSeconds } = this.#host;
    const turn = this.published + 1;
    const done = record.kind !== 'asked' || record.overLimit !== undefined;
    const toPublish = { ...record, answers: this.#answered, pseudonym: this.#pseudonym };
    const body = this.#callKey.seal(toPublish, `turn ${turn}`);
    const key = this.#callKey.key(keyRingOf(policy));
    // Only the request that waits here can read the first turn, so a first turn that ends the call is not kept.
    const keepSeconds = done ? (turn === 1 ? 0 : KEEP_SECONDS) : ttlSeconds;
    if (this.#released) await NEVER;
    const published = { turn, done, body, key, keepSeconds, tell: this.#tell };
    if (await runtime.calls.publish(this.id, instance, published)) {
      this.published = turn;
      turnListeners.notify(this.id, turn, toPublish);
      return true;
    }
    const row = await runtime.calls.read(this.id);
    if (row && !row.done) {
      this.#host.ended(this);
      await NEVER;
    }
    return false;
  }

  /** The client's answer to `turn`. Undefined if none came in time; the call is then over. */
  async #answers(turn: number): Promise<Message | undefined> {
    let goOn = () => {};
    const parked = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    this.#steps = this.#steps.then(() => parked);
    const message = await this.#receiveAnswers(turn);
    this.parkedAt = undefined;
    this.#turn = turn + 1;
    goOn();
    if (message) return message;
    this.#frame.abort(new ContinuationLost(UNANSWERED));
    await this.#publish({ kind: 'lost', why: UNANSWERED });
    return undefined;
  }

  async #receiveAnswers(turn: number): Promise<Message | undefined> {
    for (let passedOver = 0; ; passedOver++) {
      try {
        const text = await DBOS.recv<string>(String(turn), {
          timeoutSeconds: this.#host.ttlSeconds,
          pollingIntervalMs: LOOK_AGAIN_MS,
        });
        if (this.#released) await NEVER;
        if (text === null) return undefined;
        return this.#callKey.open<Message>(Buffer.from(text, 'base64'), `answers ${turn}`);
      } catch (error) {
        // Not from an instance: it does not open, or DBOS cannot read it.
        const isForged = [Unopened, TypeError, SyntaxError].some((kind) => error instanceof kind);
        if (!isForged || passedOver === MAX_FORGED) throw error;
        this.#report(error);
      }
    }
  }

  #perform(key: string, step: () => Promise<unknown>): Promise<unknown> {
    const performed = this.#steps.then(() => this.#step(key, step));
    this.#steps = performed.catch(() => {});
    return performed;
  }

  /** Resolves when this instance owns the call for certain. Never, where it does not: another one runs it. */
  async #ensureOwned(): Promise<void> {
    const { instance, runtime } = this.#host;
    const { calls, presence } = runtime;
    // Nobody else knows a call whose first turn has not ended.
    if (this.#turn === 1) return void (await presence.certain());
    for (
      let losses = await presence.certain();
      losses !== this.#ownedAfterLosses;
      losses = await presence.certain()
    ) {
      const row = await calls.read(this.id);
      if (this.#released || row?.instance !== instance) {
        this.#host.ended(this);
        await NEVER;
      }
      this.#ownedAfterLosses = losses;
    }
    if (this.#released) await NEVER;
  }

  async #step(key: string, step: () => Promise<unknown>): Promise<unknown> {
    const what = `step ${key}`;
    // DBOS threw this, not the step: errors of the step are recorded as its result.
    const failCall = async (error: unknown): Promise<never> => {
      this.#fail(error);
      return NEVER;
    };
    const record = await DBOS.runStep(
      async () => {
        if (this.#turn <= this.published) {
          return failCall(new Diverged(`Turn ${this.#turn} of call ${this.id} has a step that it had not.`));
        }
        await this.#ensureOwned();
        const record: StepRecord = await step().then(
          (value) => ({ value }),
          (error: unknown) => ({ error: errorRecord(error) }),
        );
        try {
          return this.#callKey.seal(record, what).toString('base64');
        } catch {
          // DBOS stores an error that is thrown here in clear text.
          throw new Error('The value of a step could not be sealed.');
        }
      },
      { name: `run ${saltedHash(key, this.#head)}` },
    )
      .then((sealed) => this.#callKey.open<StepRecord>(Buffer.from(sealed, 'base64'), what))
      .catch(failCall);
    if (this.#released) return NEVER;
    if ('error' in record) throw revivedError(record.error);
    return record.value;
  }
}

/** A handler that is run again did not take the steps that it took before. */
class Diverged extends Error {}

/** Checks the round and the digest of each question: a handler that is run again must ask the same. */
function checkAsked(requests: InputRequests, answered: Message['asked'], turn: number): void {
  for (const [key, digest] of answered ?? []) {
    const request = requests[key];
    if (request && questionDigest(request) === digest) continue;
    const came = request ? 'another question under that key' : 'no question under that key';
    throw new Diverged(`The answers of round ${turn} are to '${key}', and the handler now asks ${came}.`);
  }
}

const isDivergence = (error: unknown): boolean =>
  error instanceof Diverged ||
  error instanceof DBOSStepNondeterminismError ||
  error instanceof DbosErrors.DBOSUnexpectedStepError;
