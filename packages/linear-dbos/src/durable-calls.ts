/** The calls of one durable store: starts them, resumes them, and takes those of dead instances over. */
import { setTimeout as delay } from 'node:timers/promises';
import { StoreFull, speaksMrtr } from '@mrtr/core';
import { addGauge, mapValues, ownLimit, withCallInMessage } from '@mrtr/core/internal';
import { keyRingOf } from '@mrtr/core/seal';
import { findAskProblem, keepStamp } from '@mrtr/core/shape';
import {
  argumentsFull,
  assertJson,
  CLIENT_CANCELLED,
  callsFull,
  heldBytes,
  NO_NEW_CALLS,
} from '@mrtr/shapes/internal';
import { ContinuationLost, type LinearRound, type RoundEnd } from '@mrtr/shapes/linear';
import type { CallRow } from './call-table.ts';
import type { Settings } from './options.ts';
import { watchOwner } from './owner-watch.ts';
import { newInstance } from './presence.ts';
import {
  type CallHeader,
  type CallKey,
  callerRecord,
  callKeyOf,
  hashAnswers,
  headerOf,
  latestIn,
  openCallKey,
  type RoundMessage,
  revivedError,
  type TurnRecord,
  targetDigest,
  Unopened,
} from './records.ts';
import { releaseQueue } from './release-queue.ts';
import { type AwaitedTurn, remindOwner } from './remind-owner.ts';
import { type CallHost, KEEP_SECONDS, type RunningCall, runningCall, UNRECORDED } from './running-call.ts';
import { acquireRuntime } from './runtime.ts';
import { startSweep } from './sweep.ts';
import { TurnListeners } from './turn-listeners.ts';

// A call that runs here wakes its request. The poll only checks that it still runs here.
const LOOK_HERE_MS = 2500;
const LOOK_ELSEWHERE_MS = 500;
// The session of a dead instance may end a little after the first poll.
const LOOK_SOON_MS = 50;
const DRAIN_MS = 5000;
// DBOS begins a call that was taken over within about a tenth of a second, or never, if its connection ends as it
// dequeues the call.
const BEGIN_WITHIN_MS = 2000;
const LOST =
  'This call cannot be resumed here: its continuation expired, was resumed already, or is unknown. Find out what was ' +
  'done before you start the call again.';
const ELSEWHERE =
  'This server is shutting down. The call is kept: send the same answer again, for another instance.';
const NOT_NOW = 'This server cannot keep calls now. Nothing of this call has run; try again later.';
const UNREACHABLE =
  'The calls of this server cannot be reached now. Send the same answer again later, or start the call again.';
const ARGUMENTS = 'The input of a linear handler on a DbosStore';

const isParked = ({ parkedAt }: RunningCall) => parkedAt !== undefined;

const countParked = (running: ReadonlyMap<string, RunningCall>) =>
  [...running.values()].filter(isParked).length;

/** Connects, creates missing tables, and shows this instance as alive. */
export async function openCalls(settings: Settings) {
  const runtime = await acquireRuntime(settings);
  const instance = newInstance();
  const turnListeners = new TurnListeners();
  /** The calls that run or wait in this process. */
  const running = new Map<string, RunningCall>();
  const rounds = new Set<Promise<unknown>>();
  /** Rejects the waiting requests, when the database has been unreachable for too long. */
  const waiting = new Set<() => void>();
  const host: CallHost = { instance, settings, runtime, turnListeners, running, forget, release };
  const queue = releaseQueue(host);
  const stopSweeping = startSweep(settings, runtime);
  let closing: Promise<void> | undefined;
  addGauge('frames.parked', running, countParked);
  try {
    await runtime.presence.hold(instance, {
      message: (text) => void handleNotification(text),
      lost: () => running.forEach((call) => void call.fireSignal()),
      held: () => running.forEach((call) => void call.renewSignal()),
      abandon: abandonTurns,
    });
  } catch (error) {
    await close();
    throw error;
  }

  async function runRound(round: LinearRound): Promise<RoundEnd> {
    if (closing) throw round.id === undefined ? new StoreFull(NO_NEW_CALLS) : lostContinuation(ELSEWHERE);
    if (round.id === undefined && !(round.input instanceof URL)) assertJson(round.input, ARGUMENTS);
    const served = serve(round);
    rounds.add(served);
    try {
      return await served;
    } catch (error) {
      if (error instanceof ContinuationLost || error instanceof StoreFull) throw error;
      // Only the operator may see the database's error.
      settings.onerror(error);
      throw lostContinuation(error instanceof Unopened ? LOST : UNREACHABLE);
    } finally {
      rounds.delete(served);
    }
  }

  function close() {
    closing ??= end();
    return closing;
  }

  async function end() {
    queue.close();
    const over = new AbortController();
    const late = delay(DRAIN_MS, undefined, over).catch(() => {});
    await Promise.race([Promise.allSettled([...rounds]), late]);
    over.abort();
    const parked = [...running.values()].filter(isParked).map(({ id }) => id);
    for (const call of running.values()) call.abandon();
    running.clear();
    await stopSweeping();
    // DBOS may still receive their answers here, but runs nothing of them.
    await runtime.calls.release(parked, instance).catch(settings.onerror);
    await runtime.presence.drop(instance).catch(settings.onerror);
    await runtime.release();
  }

  function abandonTurns() {
    for (const call of [...running.values()]) {
      const ended = call.abandonTurn();
      if (ended) queue.releaseAfter(ended, call.id);
    }
    for (const rejectNow of waiting) rejectNow();
  }

  /** Rejects when the database is unreachable: a statement on a connection that was cut may never end. */
  async function whileReachable<Result>(result: Promise<Result>) {
    let rejectNow = () => {};
    const unreachable = new Promise<never>((_resolve, reject) => {
      rejectNow = () => reject(lostContinuation(UNREACHABLE));
    });
    waiting.add(rejectNow);
    try {
      return await Promise.race([result, unreachable]);
    } finally {
      waiting.delete(rejectNow);
    }
  }

  async function serve(round: LinearRound): Promise<RoundEnd> {
    const { call, ctx } = round;
    const { signal } = call;
    const awaited = await (round.id === undefined ? start(round) : answer(round, round.id));
    const request = new AbortController();
    void remindOwner(runtime, awaited, settings.onerror, request.signal);
    const cancel = () => void endCall(awaited, CLIENT_CANCELLED);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      const record = await whileReachable(awaitEnd(awaited, round, request.signal));
      if (record.kind === 'lost') throw lostContinuation(record.why);
      // Another request's answers came first. Its client alone may see the result.
      if (record.answers !== awaited.answers) throw lostContinuation();
      const { unfit } = record;
      if (record.kind === 'threw') return { kind: 'threw', error: revivedError(record.error), unfit };
      if (record.kind === 'returned') return { kind: 'returned', value: record.value, unfit };
      if (record.overLimit !== undefined) {
        // The boundary rejects it too, unless the call began under a stricter policy or with another client.
        if (!findAskProblem(call, record.requests)) throw lostContinuation(record.overLimit);
        return { ...record, id: undefined };
      }
      // The shim runs all rounds within one request, so the call ends with it.
      const next = { callKey: awaited.callKey, turn: awaited.turn + 1 };
      const over = () => void endCall(next, CLIENT_CANCELLED);
      if (!speaksMrtr(ctx)) signal.addEventListener('abort', over, { once: true });
      const id = `${awaited.callKey.call}.${awaited.turn}`;
      return { kind: 'asked', id, requests: record.requests, unfit };
    } finally {
      request.abort();
      running.get(awaited.callKey.call)?.forgetRequest(ctx);
      signal.removeEventListener('abort', cancel);
    }
  }

  async function start(round: LinearRound): Promise<AwaitedTurn> {
    const { id } = round.call;
    const { bytes, calls } = settings.limits;
    if (running.size >= calls) throw callsFull('all');
    const heldTotal = [...running.values()].reduce((sum, call) => sum + call.heldBytes, 0);
    if (heldTotal + heldBytes(round.input, bytes) > bytes) throw argumentsFull('all');
    const callKey = callKeyOf(id);
    const sealed = callKey.seal(headerOf(round), 'head');
    // Pass the arguments through JSON, so that a second run of the handler sees equal ones.
    const head = callKey.open<CallHeader>(sealed, 'head');
    const started = runningCall(callKey, head, round.handler, 0, host, round.ctx);
    running.set(id, started);
    try {
      await admit(callKey, sealed, head);
    } catch (error) {
      running.delete(id);
      if (error instanceof StoreFull) throw error;
      settings.onerror(error);
      throw new StoreFull(NOT_NOW);
    }
    const begun = { callKey, turn: 1 };
    try {
      await runtime.start(id, started.run);
    } catch (error) {
      running.delete(id);
      await endCall(begun, UNRECORDED);
      throw error;
    }
    return begun;
  }

  async function admit(callKey: CallKey, sealed: Buffer, header: CallHeader) {
    const { limits, policy, ttlSeconds, version } = settings;
    const { calls, bytes, perPrincipal } = limits;
    const full = await runtime.calls.add({
      id: callKey.call,
      instance,
      version,
      pseudonym: header.pseudonym,
      target: targetDigest(header, keyRingOf(policy)),
      key: callKey.sealKey(keyRingOf(policy)),
      head: sealed,
      ttlSeconds,
      ofPrincipal: { calls: ownLimit(calls, perPrincipal), bytes: ownLimit(bytes, perPrincipal) },
    });
    if (full) throw full === 'calls' ? callsFull('own') : argumentsFull('own');
  }

  async function answer({ call, ctx }: LinearRound, continuation: string): Promise<AwaitedTurn> {
    const at = continuation.lastIndexOf('.');
    const [id, turn] = [continuation.slice(0, at), Number(continuation.slice(at + 1))];
    const row = await runtime.calls.read(id);
    if (!row) throw lostContinuation();
    const callKey = openCallKey(id, row.key, keyRingOf(settings.policy));
    const head = callKey.open<CallHeader>(row.head, 'head');
    const latest = latestIn(row, callKey);
    if (
      !call.isPseudonym(latest?.pseudonym ?? head.pseudonym) ||
      head.method !== call.method ||
      head.target !== call.target
    ) {
      const about = { ...call, id };
      settings.onerror(withCallInMessage('Presented by another principal, or for another tool.', about));
      throw lostContinuation();
    }
    const responses = mapValues(ctx.mcpReq.inputResponses ?? {}, (response) => keepStamp(response));
    const awaited = { callKey, turn: turn + 1, answers: hashAnswers(responses, head) };
    // A client that lost its connection or its instance sends the same answer again, and gets its result.
    if (row.turn === awaited.turn && latest?.answers === awaited.answers) return awaited;
    if (row.done || row.expired || row.turn !== turn) throw lostContinuation();
    checkVersion(row);
    const message: RoundMessage = {
      responses,
      asked: call.asked && [...call.asked],
      askable: call.askable,
      pseudonym: call.pseudonym,
      caller: callerRecord(ctx),
      from: instance,
    };
    const sealed = callKey.seal(message, `answers ${turn}`).toString('base64');
    running.get(id)?.useRequest(ctx);
    await runtime.send(id, sealed, String(turn));
    return { ...awaited, message: sealed };
  }

  /**
   * Waits until the turn ends or the request is over. Takes the call over if no live instance runs it.
   */
  async function awaitEnd(awaited: AwaitedTurn, round: LinearRound, request: AbortSignal) {
    const { turn, callKey } = awaited;
    const id = callKey.call;
    const whyFree = watchOwner(settings.takeOverSeconds * 1000);
    for (let looks = 0; !request.aborted; looks++) {
      const wait = turnListeners.listen(id, turn);
      try {
        const here = running.get(id);
        // Before the listener was there, a turn may have been published: read it.
        if (looks > 0 || !here || here.published >= turn) {
          const row = await runtime.calls.read(id);
          const ended = row?.turn === turn ? latestIn(row, callKey) : undefined;
          if (ended) return ended;
          if (!row || row.turn > turn) throw lostContinuation();
          const isOurs = row.instance === instance;
          if (here && !isOurs) forget(here);
          const free = isOurs || (await whyFree(row, () => runtime.hasAnswers(id, row.turn)));
          if (free && !request.aborted) await takeOver(callKey, row, round, free === 'nothing runs');
        }
        const elsewhere = Math.min(LOOK_SOON_MS * 2 ** looks, LOOK_ELSEWHERE_MS);
        const record = await wait.next(running.has(id) ? LOOK_HERE_MS : elsewhere);
        if (record) return record;
      } finally {
        wait.stop();
      }
    }
    throw lostContinuation(UNREACHABLE);
  }

  /** @param ownerWasIdle the call waited for its user when its owner died, so no wait came before this. */
  async function takeOver(
    callKey: CallKey,
    row: CallRow,
    { handler, ctx }: LinearRound,
    ownerWasIdle: boolean,
  ) {
    const id = callKey.call;
    if (running.has(id)) return;
    checkVersion(row);
    if (closing) throw lostContinuation(ELSEWHERE);
    const head = callKey.open<CallHeader>(row.head, 'head');
    const taken = runningCall(callKey, head, handler, row.turn, host, ctx);
    running.set(id, taken);
    runtime.expect(id, taken.run);
    const withdraw = () => {
      runtime.unexpect(id);
      running.delete(id);
    };
    try {
      const isOwner = await becomeOwner(id, row, ownerWasIdle);
      const isResumed = isOwner && (await runtime.resume(id));
      // DBOS has recorded the call as over. Its owner could not publish the end, so publish it here.
      if (isOwner && !isResumed) await endCall({ callKey, turn: row.turn + 1 }, UNRECORDED);
      if (isResumed) setTimeout(() => taken.hasBegun || release(taken), BEGIN_WITHIN_MS).unref();
      else withdraw();
    } catch (error) {
      release(taken);
      withdraw();
      throw error;
    }
  }

  /** Returns false if another instance owns the call: it was faster, or the old owner is alive again. */
  async function becomeOwner(id: string, row: CallRow, ownerWasIdle: boolean) {
    // A handler that this instance abandoned may still run here.
    await queue.waitUntilSettled(id);
    if (!(await runtime.calls.takeOver(id, row.instance, instance))) return false;
    // The old owner received the answers before it noticed the loss of its session. Its turn may still run.
    if (ownerWasIdle && (await runtime.hasAnswers(id, row.turn)))
      await delay(settings.takeOverSeconds * 1000, undefined, { ref: false });
    return true;
  }

  /** Forgets and releases a call that another execution replaced, that failed to start, or that DBOS never began. */
  function release(call: { readonly id: string }) {
    if (running.get(call.id) !== call) return;
    runtime.unexpect(call.id);
    forget(call);
    queue.release(call.id);
  }

  /** Ends a call in the awaited turn. Does nothing if that turn has ended. */
  async function endCall({ callKey, turn }: AwaitedTurn, why: string) {
    const id = callKey.call;
    try {
      const record: TurnRecord = { kind: 'lost', why };
      const body = callKey.seal(record, `turn ${turn}`);
      if (!(await runtime.calls.end(id, { turn, body, keepSeconds: KEEP_SECONDS }))) return;
      running.get(id)?.end(why);
      turnListeners.notify(id, turn, record);
    } catch (error) {
      settings.onerror(error);
    }
  }

  /** Handles a notification from another instance: a turn ended, or a call has to end. */
  async function handleNotification(message: string) {
    const [what, id = ''] = message.split(' ');
    turnListeners.notify(id);
    if (what !== 'end' || !running.has(id)) return;
    try {
      // Read the table first: any role that can connect could send the notification.
      const row = await runtime.calls.read(id);
      if (row?.done) running.get(id)?.end(CLIENT_CANCELLED);
    } catch (error) {
      settings.onerror(error);
    }
  }

  function checkVersion({ version, dead }: CallRow) {
    if (!dead || version === settings.version) return;
    throw lostContinuation(
      `This call began on version '${version}' of this server, and no instance of that version is left. Version ` +
        `'${settings.version}' cannot resume it. Start the call again.`,
    );
  }

  function forget(call: { readonly id: string }) {
    if (running.get(call.id) === call) running.delete(call.id);
    turnListeners.notify(call.id);
  }

  return {
    runRound,
    close,
    get parked() {
      return countParked(running);
    },
  };
}

const lostContinuation = (why = LOST) => new ContinuationLost(why);
