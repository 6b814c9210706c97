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
import type { ServerContext } from '@mrtr/core';
import { publish, withCallInMessage } from '@mrtr/core/internal';
import { keyRingOf } from '@mrtr/core/seal';
import { findAskProblem, questionDigest } from '@mrtr/core/shape';
import { heldBytes, UNANSWERED } from '@mrtr/shapes/internal';
import { ContinuationLost, type LinearRound } from '@mrtr/shapes/linear';
import { continuationState, Frame, FrameContext } from '@mrtr/shapes/linear-store';
import type { Settings } from './options.ts';
import {
  type CallHeader,
  type CallKey,
  errorRecord,
  hashAnswers,
  type RoundMessage,
  revivedError,
  type StepResult,
  saltedHash,
  type TurnRecord,
  Unopened,
} from './records.ts';
import { NEVER, type Runtime } from './runtime.ts';
import type { TurnListeners } from './turn-listeners.ts';

/** The store that a call runs in. */
export interface CallHost {
  readonly instance: string;
  readonly settings: Settings;
  readonly runtime: Runtime;
  readonly turnListeners: TurnListeners;
  /** The calls that run or wait in this process. */
  readonly running: ReadonlyMap<string, unknown>;
  forget(call: { readonly id: string }): void;
  /** Forgets the call, which is not over, and lets another instance resume it. */
  release(call: { readonly id: string }): void;
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

/**
 * A call that this instance started or took over.
 *
 * @param published the latest published turn. A resumed call runs these turns again to reach its place.
 * @param request the request of the open round. Progress and log messages go out on it.
 */
export function runningCall(
  callKey: CallKey,
  head: CallHeader,
  handler: LinearRound['handler'],
  published: number,
  host: CallHost,
  request: ServerContext | undefined,
) {
  const id = callKey.call;
  /** The current turn, which may be one that runs again. */
  let current = 1;
  let fail!: (error: unknown) => void;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  let steps: Promise<unknown> = Promise.resolve();
  let isAbandoned = false;
  /** Set when the store ends the call. */
  let endedBecause: string | undefined;
  /** The other instance whose request waits for the open turn. */
  let waiter: string | undefined;
  /** The digest of the answers that started the open turn. */
  let answered: string | undefined;
  /** The caller's pseudonym from the latest answer. */
  let pseudonym = head.pseudonym;
  /** Whether DBOS has begun the workflow. */
  let hasBegun = false;
  /** How many sessions this instance had lost when it last read that it owns the call. Undefined until a turn's first read. */
  let ownedAfterLosses: number | undefined;
  /** The turn that asked, while the call waits for the answers. */
  let parkedAt: number | undefined;
  const frame = new Frame({ ...head, id }, host.settings.onerror, perform);
  frame.askable = head.askable;
  frame.caller = head.caller;

  /** The workflow. Resolves when the call is over. */
  async function run() {
    hasBegun = true;
    try {
      await turns();
    } catch (error) {
      if (error instanceof DBOSWorkflowConflictError) {
        host.release(call);
        throw error; // DBOS waits for its new owner.
      }
      if (isAbandoned) await NEVER;
      report(error);
      const why = isDivergence(error) ? DIVERGED : UNRECORDED;
      frame.abort(new ContinuationLost(why));
      await publishTurn({ kind: 'lost', why });
    } finally {
      host.forget(call);
    }
  }

  function report(error: unknown) {
    host.settings.onerror(withCallInMessage(error, frame.about));
  }

  /** Ends the call: its client cancelled it, or disconnected. */
  function end(why: string) {
    endedBecause = why;
    frame.abort(new ContinuationLost(why));
    const turn = parkedAt;
    if (turn === undefined) return;
    // The call waits in DBOS for a message. If an answer came first, that one wakes it.
    const message: RoundMessage = { askable: [], from: host.instance };
    const sealed = callKey.seal(message, `answers ${turn}`).toString('base64');
    host.runtime.send(id, sealed, String(turn)).catch(report);
  }

  /** Stops sending progress and log messages on `ended`, a request that has been answered. */
  function forgetRequest(ended: ServerContext) {
    if (request !== ended) return;
    request = undefined;
    frame.request = undefined;
  }

  /** Fires the handler's signal: the session is lost, so a running step may have to stop. New steps wait for the session. */
  function fireSignal() {
    if (parkedAt === undefined) frame.fireSignal(new ContinuationLost(INTERRUPTED));
  }

  /**
   * Abandons the call if its turn runs, because another instance may take it over. Every further step of the handler
   * rejects.
   *
   * @returns a promise that resolves when the handler has ended. Undefined if the call waits for its user: nothing runs.
   */
  function abandonTurn(): Promise<void> | undefined {
    if (parkedAt !== undefined) return undefined;
    isAbandoned = true;
    frame.abort(new ContinuationLost(INTERRUPTED));
    host.forget(call);
    return new Promise((resolve) => frame.whenSettled(resolve));
  }

  async function turns() {
    const input = head.isUri ? new URL(head.input as string) : head.input;
    publish('mrtr:handler', { call: id, shape: 'linear', target: head.target, part: 'handler' });
    const context = new FrameContext(frame);
    reportsFrom(1);
    let frameTurn = frame.start(() => handler(input as never, context));
    for (let turn = 1; ; turn++) {
      const record = recordOf(await Promise.race([frameTurn, failed]), turn);
      const waits = record.kind === 'asked' && !record.overLimit;
      parkedAt = waits ? turn : undefined;
      if (turn <= published && !waits) throw new Diverged(`Turn ${turn} of call ${id} had asked.`);
      if (turn > published && !(await publishTurn(record))) break;
      const message = waits ? await answers(turn) : undefined;
      if (!message) break;
      if (endedBecause !== undefined) {
        await publishTurn({ kind: 'lost', why: endedBecause });
        break;
      }
      if (record.kind === 'asked') checkAsked(record.requests, message.asked, turn);
      frame.askable = message.askable;
      frame.caller = message.caller;
      pseudonym = message.pseudonym;
      answered = hashAnswers(message.responses, head);
      waiter = message.from === host.instance ? undefined : message.from;
      ownedAfterLosses = undefined;
      reportsFrom(turn + 1);
      frameTurn = frame.resume(message.responses);
    }
    parkedAt = undefined;
    await new Promise<void>((resolve) => frame.whenSettled(resolve));
  }

  /** Sends progress and log messages only from new turns. A turn that runs again sent them the first time. */
  function reportsFrom(turn: number) {
    frame.request = turn > published ? request : undefined;
  }

  function recordOf(frameTurn: Awaited<ReturnType<Frame['start']>>, turn: number): TurnRecord {
    const { unfit } = frameTurn;
    if (frameTurn.kind === 'threw') return { kind: 'threw', error: errorRecord(frameTurn.error), unfit };
    if (frameTurn.kind === 'asked') return { ...recordQuestions(frameTurn.requests, turn), unfit };
    try {
      JSON.stringify(frameTurn.value);
      return frameTurn;
    } catch (error) {
      return { kind: 'threw', error: errorRecord(error) };
    }
  }

  function recordQuestions(requests: InputRequests, round: number): TurnRecord {
    const { maxRounds, maxQuestions, maxStateBytes, version } = head;
    const limits = { rounds: maxRounds, questions: maxQuestions, stateBytes: maxStateBytes };
    const asking = { round, limits, version, askable: frame.askable };
    const problem = findAskProblem(asking, requests, { requestState: continuationState(`${id}.${round}`) });
    if (problem === undefined) return { kind: 'asked', requests };
    frame.abort(new ContinuationLost(problem.message));
    return { kind: 'asked', requests, overLimit: problem.message, effects: frame.effects };
  }

  /** Publishes the end of the open turn. Returns false if the call is over; hangs if another instance owns the call. */
  async function publishTurn(record: TurnRecord) {
    const { runtime, instance, turnListeners, settings } = host;
    const turn = published + 1;
    const done = record.kind !== 'asked' || record.overLimit !== undefined;
    const toPublish = { ...record, answers: answered, pseudonym };
    const body = callKey.seal(toPublish, `turn ${turn}`);
    const key = callKey.sealKey(keyRingOf(settings.policy));
    // Only the request that waits here can read the first turn. If that turn ends the call, nobody needs its record.
    const keepSeconds = done ? (turn === 1 ? 0 : KEEP_SECONDS) : settings.ttlSeconds;
    if (isAbandoned) await NEVER;
    if (await runtime.calls.publish(id, instance, { turn, done, body, key, keepSeconds, waiter })) {
      published = turn;
      turnListeners.notify(id, turn, toPublish);
      return true;
    }
    const row = await runtime.calls.read(id);
    if (row && !row.done) {
      host.forget(call);
      await NEVER;
    }
    return false;
  }

  /** Waits for the client's answer to `turn`. If it does not come in time, ends the call and returns undefined. */
  async function answers(turn: number) {
    let unpark = () => {};
    const parked = new Promise<void>((resolve) => {
      unpark = resolve;
    });
    steps = steps.then(() => parked);
    const message = await receiveAnswers(turn);
    parkedAt = undefined;
    current = turn + 1;
    unpark();
    if (message) return message;
    frame.abort(new ContinuationLost(UNANSWERED));
    await publishTurn({ kind: 'lost', why: UNANSWERED });
    return undefined;
  }

  async function receiveAnswers(turn: number) {
    for (let passedOver = 0; ; passedOver++) {
      try {
        const text = await DBOS.recv<string>(String(turn), {
          timeoutSeconds: host.settings.ttlSeconds,
          pollingIntervalMs: LOOK_AGAIN_MS,
        });
        if (isAbandoned) await NEVER;
        if (text === null) return undefined;
        return callKey.open<RoundMessage>(Buffer.from(text, 'base64'), `answers ${turn}`);
      } catch (error) {
        // A message that does not open, or that DBOS cannot read, did not come from an instance.
        const isForged = [Unopened, TypeError, SyntaxError].some((kind) => error instanceof kind);
        if (!isForged || passedOver === MAX_FORGED) throw error;
        report(error);
      }
    }
  }

  function perform(key: string, step: () => Promise<unknown>) {
    const performed = steps.then(() => runStep(key, step));
    steps = performed.catch(() => {});
    return performed;
  }

  /** Resolves when this instance certainly owns the call. Never resolves if another instance owns it. */
  async function ensureOwned(): Promise<void> {
    const { instance, runtime } = host;
    const { calls, presence } = runtime;
    // Until the first turn ends, no other instance knows the call.
    if (current === 1) return void (await presence.ensureHeld());
    for (
      let losses = await presence.ensureHeld();
      losses !== ownedAfterLosses;
      losses = await presence.ensureHeld()
    ) {
      const row = await calls.read(id);
      if (isAbandoned || row?.instance !== instance) {
        host.forget(call);
        await NEVER;
      }
      ownedAfterLosses = losses;
    }
    if (isAbandoned) await NEVER;
  }

  async function runStep(key: string, step: () => Promise<unknown>) {
    const what = `step ${key}`;
    // Only DBOS throws here. An error of the step is recorded as its result.
    const failCall = async (error: unknown): Promise<never> => {
      fail(error);
      return NEVER;
    };
    const record = await DBOS.runStep(
      async () => {
        if (current <= published)
          return failCall(new Diverged(`Turn ${current} of call ${id} has a step that it had not.`));
        await ensureOwned();
        const record: StepResult = await step().then(
          (value) => ({ value }),
          (error: unknown) => ({ error: errorRecord(error) }),
        );
        try {
          return callKey.seal(record, what).toString('base64');
        } catch {
          // DBOS stores an error that is thrown here in clear text.
          throw new Error('The value of a step could not be sealed.');
        }
      },
      { name: `run ${saltedHash(key, head)}` },
    )
      .then((sealed) => callKey.open<StepResult>(Buffer.from(sealed, 'base64'), what))
      .catch(failCall);
    if (isAbandoned) return NEVER;
    if ('error' in record) throw revivedError(record.error);
    return record.value;
  }

  const call = {
    id,
    /** The estimated memory of its arguments, in bytes. */
    heldBytes: heldBytes(head.input),
    get published() {
      return published;
    },
    get parkedAt() {
      return parkedAt;
    },
    get hasBegun() {
      return hasBegun;
    },
    run,
    end,
    /** Progress and log messages go out on `opened` from the next turn on. */
    useRequest(opened: ServerContext) {
      request = opened;
    },
    forgetRequest,
    /** Records nothing more, as if this process had died. Another instance can then resume the call. */
    abandon() {
      isAbandoned = true;
    },
    abandonTurn,
    fireSignal,
    /** Renews the handler's signal, once the session is back. */
    renewSignal: () => frame.renewSignal(),
  };
  return call;
}

export type RunningCall = ReturnType<typeof runningCall>;

/** The second run of a handler took other steps than the first. */
class Diverged extends Error {}

/** Checks the key and the digest of each question: the second run of a handler must ask the same ones. */
function checkAsked(requests: InputRequests, answered: RoundMessage['asked'], turn: number) {
  for (const [key, digest] of answered ?? []) {
    const request = requests[key];
    if (request && questionDigest(request) === digest) continue;
    const came = request ? 'another question under that key' : 'no question under that key';
    throw new Diverged(`The answers of round ${turn} are to '${key}', and the handler now asks ${came}.`);
  }
}

const isDivergence = (error: unknown) =>
  error instanceof Diverged ||
  error instanceof DBOSStepNondeterminismError ||
  error instanceof DbosErrors.DBOSUnexpectedStepError;
