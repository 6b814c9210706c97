/**
 * One call that runs in this process, as a workflow that DBOS records.
 *
 * Invariants:
 * 1. DBOS records the steps in the same order on every run: one at a time, in the order of the calls to `once`. No step
 *    runs while the call waits for an answer.
 * 2. A turn is published once, and only by the instance that owns the call.
 * 3. The workflow returns only when the call is over. If another instance resumes the call, the workflow here hangs:
 *    if it returned, DBOS would record it as done, and no instance could resume it.
 * 4. A published turn ran all of its steps, so a second run executes no step of it. A step without a record in such a
 *    turn means that the code has changed. It ends the call, and does not execute.
 * 5. A failure of DBOS ends the call. The author's handler never sees it.
 * 6. A step starts only while this instance is certain to own the call. It reads the owner before the first step of
 *    each turn, and again after each loss of its session.
 *
 * To *end* a call is to publish its last turn. To *abandon* it is to record nothing more of it here. To *release* it is
 * to say in the table that any instance may resume it. To *forget* it is to drop it from this instance's calls.
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
  forget(call: RunningCall): void;
  /** Forgets the call, which is not over, and lets another instance resume it. */
  release(call: RunningCall): void;
}

/** How long the result of a call is kept, in seconds. A request on another instance may wait for it. */
export const KEEP_SECONDS = 60;
/** How often a parked call polls for an answer whose notification was lost. Each poll is two statements. */
export const LOOK_AGAIN_MS = 20_000;

const INTERRUPTED =
  'This server cannot reach its calls now. Another server may continue this call. Send the same answer again.';

/** How many messages that do not open a turn skips. */
const MAX_FORGED = 100;
const DIVERGED =
  'This call cannot be resumed: its handler took other steps than it took before. Start the call again.';
/** The message of a call that ends because DBOS or the database failed. */
export const UNRECORDED = 'This call cannot be resumed: it could not be recorded. Start the call again.';

/** A call that this instance started or took over. */
export class RunningCall {
  readonly id: string;
  readonly #callKey: CallKey;
  readonly #head: CallHeader;
  readonly #handler: LinearRound['handler'];
  readonly #host: CallHost;
  readonly #frame: Frame;
  /** The latest published turn. A resumed call runs these turns again to reach its place. */
  published: number;
  /** The current turn, which may be one that runs again. */
  #turn = 1;
  #fail!: (error: unknown) => void;
  readonly #failed = new Promise<never>((_resolve, reject) => {
    this.#fail = reject;
  });
  #steps: Promise<unknown> = Promise.resolve();
  #abandoned = false;
  /** Set when the store ends the call. */
  #endedBecause: string | undefined;
  /** The other instance whose request waits for the open turn. */
  #waiter: string | undefined;
  /** The digest of the answers that started the open turn. */
  #answered: string | undefined;
  /** The caller's pseudonym from the latest answer. */
  #pseudonym: string | undefined;
  /** Whether DBOS has begun the workflow. */
  hasBegun = false;
  /** How many sessions this instance had lost when it last read that it owns the call. Undefined until a turn's first read. */
  #ownedAfterLosses: number | undefined;
  /** The request of the open round, if this process received it. Progress and log messages go out on it. */
  request: ServerContext | undefined;
  /** The estimated memory of its arguments, in bytes. */
  readonly heldBytes: number;
  /** The turn that asked, while the call waits for the answers. */
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
        this.#host.release(this);
        throw error; // DBOS waits for its new owner.
      }
      if (this.#abandoned) await NEVER;
      this.#report(error);
      const why = isDivergence(error) ? DIVERGED : UNRECORDED;
      this.#frame.abort(new ContinuationLost(why));
      await this.#publish({ kind: 'lost', why });
    } finally {
      this.#host.forget(this);
    }
  }

  #report(error: unknown): void {
    this.#host.report(withCallInMessage(error, this.#frame.about));
  }

  /** Ends the call: its client cancelled it, or disconnected. */
  end(why: string): void {
    this.#endedBecause = why;
    this.#frame.abort(new ContinuationLost(why));
    const turn = this.parkedAt;
    if (turn === undefined) return;
    // The call waits in DBOS for a message. If an answer came first, that one wakes it.
    const message: Message = { askable: [], from: this.#host.instance };
    const sealed = this.#callKey.seal(message, `answers ${turn}`).toString('base64');
    this.#host.runtime.send(this.id, sealed, String(turn)).catch((error) => this.#report(error));
  }

  /** Stops sending progress and log messages on `request`, which has been answered. */
  forgetRequest(request: ServerContext): void {
    if (this.request !== request) return;
    this.request = undefined;
    this.#frame.request = undefined;
  }

  /** Records nothing more, as if this process had died. Another instance can then resume the call. */
  abandon(): void {
    this.#abandoned = true;
  }

  /** Fires the handler's signal: the session is lost, so a running step may have to stop. New steps wait for the session. */
  fireSignal(): void {
    if (this.parkedAt === undefined) this.#frame.fireSignal(new ContinuationLost(INTERRUPTED));
  }

  /** Renews the handler's signal, once the session is back. */
  renewSignal(): void {
    this.#frame.renewSignal();
  }

  /**
   * Abandons the call if its turn runs, because another instance may take it over. Every further step of the handler
   * rejects.
   *
   * @returns a promise that resolves when the handler has ended. Undefined if the call waits for its user: nothing runs.
   */
  abandonTurn(): Promise<void> | undefined {
    if (this.parkedAt !== undefined) return undefined;
    this.abandon();
    this.#frame.abort(new ContinuationLost(INTERRUPTED));
    this.#host.forget(this);
    return new Promise((resolve) => this.#frame.whenSettled(resolve));
  }

  async #turns(): Promise<void> {
    const { target, isUri } = this.#head;
    const input = isUri ? new URL(this.#head.input as string) : this.#head.input;
    publish('mrtr:handler', { call: this.id, shape: 'linear', target, part: 'handler' });
    const context = new FrameContext(this.#frame, this.id);
    this.#reportsFrom(1);
    let frameTurn = this.#frame.start(() => this.#handler(input as never, context));
    for (let turn = 1; ; turn++) {
      const record = this.#recordOf(await Promise.race([frameTurn, this.#failed]), turn);
      const waits = record.kind === 'asked' && !record.overLimit;
      this.parkedAt = waits ? turn : undefined;
      if (turn <= this.published && !waits) throw new Diverged(`Turn ${turn} of call ${this.id} had asked.`);
      if (turn > this.published && !(await this.#publish(record))) break;
      const message = waits ? await this.#answers(turn) : undefined;
      if (!message) break;
      if (this.#endedBecause !== undefined) {
        await this.#publish({ kind: 'lost', why: this.#endedBecause });
        break;
      }
      if (record.kind === 'asked') checkAsked(record.requests, message.asked, turn);
      this.#frame.askable = message.askable;
      this.#frame.caller = message.caller;
      this.#pseudonym = message.pseudonym;
      this.#answered = hashAnswers(message.responses, this.#head);
      this.#waiter = message.from === this.#host.instance ? undefined : message.from;
      this.#ownedAfterLosses = undefined;
      this.#reportsFrom(turn + 1);
      frameTurn = this.#frame.resume(message.responses);
    }
    this.parkedAt = undefined;
    await new Promise<void>((resolve) => this.#frame.whenSettled(resolve));
  }

  /** Sends progress and log messages only from new turns. A turn that runs again sent them the first time. */
  #reportsFrom(turn: number): void {
    this.#frame.request = turn > this.published ? this.request : undefined;
  }

  #recordOf(frameTurn: FrameTurn, turn: number): TurnRecord {
    if (frameTurn.kind === 'threw') return { kind: 'threw', error: errorRecord(frameTurn.error) };
    if (frameTurn.kind === 'asked') return this.#recordQuestions(frameTurn.requests, turn);
    try {
      JSON.stringify(frameTurn.value);
      return frameTurn;
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

  /** Publishes the end of the open turn. Returns false if the call is over; hangs if another instance owns the call. */
  async #publish(record: TurnRecord): Promise<boolean> {
    const { runtime, instance, turnListeners, policy, ttlSeconds } = this.#host;
    const turn = this.published + 1;
    const done = record.kind !== 'asked' || record.overLimit !== undefined;
    const toPublish = { ...record, answers: this.#answered, pseudonym: this.#pseudonym };
    const body = this.#callKey.seal(toPublish, `turn ${turn}`);
    const key = this.#callKey.sealKey(keyRingOf(policy));
    // Only the request that waits here can read the first turn. If that turn ends the call, nobody needs its record.
    const keepSeconds = done ? (turn === 1 ? 0 : KEEP_SECONDS) : ttlSeconds;
    if (this.#abandoned) await NEVER;
    const published = { turn, done, body, key, keepSeconds, waiter: this.#waiter };
    if (await runtime.calls.publish(this.id, instance, published)) {
      this.published = turn;
      turnListeners.notify(this.id, turn, toPublish);
      return true;
    }
    const row = await runtime.calls.read(this.id);
    if (row && !row.done) {
      this.#host.forget(this);
      await NEVER;
    }
    return false;
  }

  /** Waits for the client's answer to `turn`. If it does not come in time, ends the call and returns undefined. */
  async #answers(turn: number): Promise<Message | undefined> {
    let unpark = () => {};
    const parked = new Promise<void>((resolve) => {
      unpark = resolve;
    });
    this.#steps = this.#steps.then(() => parked);
    const message = await this.#receiveAnswers(turn);
    this.parkedAt = undefined;
    this.#turn = turn + 1;
    unpark();
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
        if (this.#abandoned) await NEVER;
        if (text === null) return undefined;
        return this.#callKey.open<Message>(Buffer.from(text, 'base64'), `answers ${turn}`);
      } catch (error) {
        // A message that does not open, or that DBOS cannot read, did not come from an instance.
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

  /** Resolves when this instance certainly owns the call. Never resolves if another instance owns it. */
  async #ensureOwned(): Promise<void> {
    const { instance, runtime } = this.#host;
    const { calls, presence } = runtime;
    // Until the first turn ends, no other instance knows the call.
    if (this.#turn === 1) return void (await presence.ensureHeld());
    for (
      let losses = await presence.ensureHeld();
      losses !== this.#ownedAfterLosses;
      losses = await presence.ensureHeld()
    ) {
      const row = await calls.read(this.id);
      if (this.#abandoned || row?.instance !== instance) {
        this.#host.forget(this);
        await NEVER;
      }
      this.#ownedAfterLosses = losses;
    }
    if (this.#abandoned) await NEVER;
  }

  async #step(key: string, step: () => Promise<unknown>): Promise<unknown> {
    const what = `step ${key}`;
    // Only DBOS throws here. An error of the step is recorded as its result.
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
    if (this.#abandoned) return NEVER;
    if ('error' in record) throw revivedError(record.error);
    return record.value;
  }
}

/** The second run of a handler took other steps than the first. */
class Diverged extends Error {}

/** Checks the key and the digest of each question: the second run of a handler must ask the same ones. */
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
