/**
 * One call that runs in this process, as the workflow that DBOS records.
 *
 * Invariants:
 * 1. What is recorded comes in one order, also when it is run again: a step at a time, in the order of their calls, and
 *    none while an answer is waited for.
 * 2. A turn is published once, and only by the instance that the call belongs to.
 * 3. The workflow returns only when the call is over. Where the call goes on elsewhere it hangs: DBOS would record it as
 *    done, and nobody could resume it.
 * 4. What DBOS finds wrong ends the call, and never reaches the author's handler.
 */
import {
  DBOS,
  DBOSStepNondeterminismError,
  DBOSWorkflowConflictError,
  Error as DbosErrors,
} from '@dbos-inc/dbos-sdk';
import { ContinuationLost, type InputRequests, publish as observe } from '@mrtr/core';
import { Frame, FrameContext, type LinearRound, overdrawn, type Pause } from '@mrtr/shapes/linear-store';
import type { Calls } from './calls.ts';
import type { News } from './news.ts';
import {
  errorRecord,
  type Head,
  type Message,
  revivedError,
  type StepRecord,
  type TurnRecord,
  unread,
  unreadAnswers,
  type Vault,
} from './records.ts';
import { NEVER, type Runtime } from './runtime.ts';

/** The store that a call runs in. */
export interface Host {
  readonly instance: string;
  readonly ttlSeconds: number;
  readonly calls: Calls;
  readonly runtime: Runtime;
  readonly vault: Vault;
  readonly news: News;
  report(error: Error): void;
  /** The call runs here no longer. */
  ended(call: RunningCall): void;
}

/** How long what became of a call is kept, in seconds: somebody may be waiting for it on another instance. */
export const KEEP_SECONDS = 60;
/** How often a parked call looks for an answer that it was not told of. Each look is two statements. */
export const LOOK_AGAIN_MS = 20_000;

const BEGIN_WITHIN_MS = 2000;
const UNANSWERED = 'Nobody answered in time, and the call was given up.';
const DIVERGED =
  'This call cannot go on: its handler took other steps than it took before. Start the call again.';
/** Why a call ends that DBOS or the database failed. */
export const UNRECORDED = 'This call cannot go on: it could not be recorded. Start the call again.';

/** A call that was started here or taken over. */
export class RunningCall {
  readonly id: string;
  readonly #head: Head;
  readonly #handler: LinearRound['handler'];
  readonly #host: Host;
  readonly #frame: Frame;
  /** The latest turn that anybody got; what comes before is run again for its effects on the handler alone. */
  published: number;
  #fail!: (error: unknown) => void;
  readonly #failed = new Promise<never>((_resolve, reject) => {
    this.#fail = reject;
  });
  #steps: Promise<unknown> = Promise.resolve();
  #released = false;
  #aborted = false;
  /** Another instance that waits for the turn that is open. */
  #tell: string | undefined;
  /** What the turn that is open comes of. */
  #answered: string | undefined;
  readonly #since = performance.now();
  #begun = false;
  /** The turn whose answers it waits for. */
  parkedAt: number | undefined;

  constructor(id: string, head: Head, handler: LinearRound['handler'], published: number, host: Host) {
    this.id = id;
    this.#head = head;
    this.#handler = handler;
    this.published = published;
    this.#host = host;
    this.#failed.catch(() => {});
    this.#frame = new Frame(head.principal, (key, step) => this.#perform(key, step));
    this.#frame.askable = head.askable;
  }

  /** The workflow. Resolves when the call is over. */
  async run(): Promise<void> {
    this.#begun = true;
    try {
      await this.#turns();
    } catch (error) {
      if (error instanceof DBOSWorkflowConflictError) throw error; // DBOS waits for whoever has it now.
      if (this.#released) await NEVER;
      this.#host.report(error instanceof Error ? error : new Error(String(error)));
      const why = diverged(error) ? DIVERGED : UNRECORDED;
      this.#frame.abort(new ContinuationLost(why));
      await this.#publish({ kind: 'lost', why });
    } finally {
      this.#host.ended(this);
    }
  }

  /** Whether DBOS should have begun it by now: where it lost a connection as it took it from the queue, it forgets it. */
  get isOverdue(): boolean {
    return !this.#begun && performance.now() - this.#since > BEGIN_WITHIN_MS;
  }

  /** Ends it from outside: its client cancelled, or is gone. */
  abort(why: string): void {
    this.#aborted = true;
    this.#frame.abort(new ContinuationLost(why));
    const turn = this.parkedAt;
    if (turn === undefined) return;
    // It waits inside of DBOS for a message. If an answer came first, that wakes it as well.
    const message: Message = { askable: [], from: this.#host.instance };
    const sealed = this.#host.vault.seal(message, this.id, `answers ${turn}`).toString('base64');
    this.#host.runtime.send(this.id, sealed, String(turn)).catch((error) => this.#host.report(error));
  }

  /** Lets go of it, as if this process had died: whoever takes it over goes on with it. */
  release(): void {
    this.#released = true;
  }

  async #turns(): Promise<void> {
    const { input, target } = this.#head;
    observe('mrtr:handler', { shape: 'linear', target });
    const context = new FrameContext(this.#frame, this.id);
    let pause = this.#frame.start(() => this.#handler(input as never, context));
    for (let turn = 1; ; turn++) {
      const record = this.#recordOf(await Promise.race([pause, this.#failed]), turn);
      const waits = record.kind === 'asked' && !record.overdrawn;
      if (turn <= this.published && !waits) throw new Diverged(`Turn ${turn} of call ${this.id} had asked.`);
      if (turn > this.published && !(await this.#publish(record))) break;
      const message = waits ? await this.#answers(turn) : undefined;
      if (!message || this.#aborted) break;
      this.#frame.askable = message.askable;
      this.#answered = unreadAnswers(message.responses, this.#head);
      this.#tell = message.from === this.#host.instance ? undefined : message.from;
      pause = this.#frame.resume(message.responses);
    }
    await new Promise<void>((resolve) => this.#frame.whenSettled(resolve));
  }

  #recordOf(pause: Pause, turn: number): TurnRecord {
    if (pause.kind === 'threw') return { kind: 'threw', error: errorRecord(pause.error) };
    if (pause.kind === 'asked') return this.#asked(pause.requests, turn);
    try {
      JSON.stringify(pause.value);
      return pause;
    } catch (error) {
      return { kind: 'threw', error: errorRecord(error) };
    }
  }

  #asked(requests: InputRequests, round: number): TurnRecord {
    const { maxRounds, maxQuestions } = this.#head;
    const why = overdrawn(requests, { round, maxRounds, maxQuestions });
    if (why === undefined) return { kind: 'asked', requests };
    this.#frame.abort(new ContinuationLost(why));
    return round < maxRounds ? { kind: 'asked', requests, overdrawn: why } : { kind: 'lost', why };
  }

  /** Ends the turn that is open. Says false where the call is over; hangs where it is another instance's. */
  async #publish(record: TurnRecord): Promise<boolean> {
    const { calls, instance, news, ttlSeconds, vault } = this.#host;
    const turn = this.published + 1;
    const done = record.kind !== 'asked' || record.overdrawn !== undefined;
    const body = vault.seal(record, this.id, `turn ${turn}`);
    // Nobody but the request that waits here can ask for the first turn, so that is not kept.
    const keepSeconds = done ? (turn === 1 ? 0 : KEEP_SECONDS) : ttlSeconds;
    if (this.#released) await NEVER;
    const published = { turn, done, body, keepSeconds, answers: this.#answered, tell: this.#tell };
    if (await calls.publish(this.id, instance, published)) {
      this.published = turn;
      news.tell(this.id, turn, record);
      return true;
    }
    const row = await calls.read(this.id);
    if (row && !row.done) {
      this.#host.ended(this);
      await NEVER;
    }
    return false;
  }

  /** What the client of `turn` answers. Undefined when nobody did in time; the call is then over. */
  async #answers(turn: number): Promise<Message | undefined> {
    this.parkedAt = turn;
    let goOn = () => {};
    const parked = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    this.#steps = this.#steps.then(() => parked);
    const text = await DBOS.recv<string>(String(turn), {
      timeoutSeconds: this.#host.ttlSeconds,
      pollingIntervalMs: LOOK_AGAIN_MS,
    });
    this.parkedAt = undefined;
    goOn();
    if (this.#released) await NEVER;
    if (text !== null)
      return this.#host.vault.open<Message>(Buffer.from(text, 'base64'), this.id, `answers ${turn}`);
    this.#frame.abort(new ContinuationLost(UNANSWERED));
    await this.#publish({ kind: 'lost', why: UNANSWERED });
    return undefined;
  }

  #perform(key: string, step: () => Promise<unknown>): Promise<unknown> {
    const performed = this.#steps.then(() => this.#step(key, step));
    this.#steps = performed.catch(() => {});
    return performed;
  }

  async #step(key: string, step: () => Promise<unknown>): Promise<unknown> {
    const { vault } = this.#host;
    const what = `step ${key}`;
    // Thrown by DBOS and not by the step, whose errors are recorded as its outcome.
    const broken = async (error: unknown): Promise<never> => {
      this.#fail(error);
      return NEVER;
    };
    const sealed = await DBOS.runStep(
      async () => {
        const record: StepRecord = await step().then(
          (value) => ({ value }),
          (error: unknown) => ({ error: errorRecord(error) }),
        );
        return vault.seal(record, this.id, what).toString('base64');
      },
      { name: `run ${unread(key, this.#head)}` },
    ).catch(broken);
    if (this.#released) return NEVER;
    const record = vault.open<StepRecord>(Buffer.from(sealed, 'base64'), this.id, what);
    if ('error' in record) throw revivedError(record.error);
    return record.value;
  }
}

/** The handler did not do again what it had done. */
class Diverged extends Error {}

const diverged = (error: unknown): boolean =>
  error instanceof Diverged ||
  error instanceof DBOSStepNondeterminismError ||
  error instanceof DbosErrors.DBOSUnexpectedStepError;
