/** The durable store of shape H: any instance with the same keys and database can resume a call. */
import { setTimeout as delay } from 'node:timers/promises';
import { StoreFull, speaksMrtr } from '@mrtr/core';
import { addGauge, ownLimit, withCallInMessage } from '@mrtr/core/internal';
import { keyRingOf } from '@mrtr/core/seal';
import { findAskProblem, keepStamp } from '@mrtr/core/shape';
import {
  assertJson,
  CLIENT_CANCELLED,
  heldBytes,
  NO_NEW_CALLS,
  PRINCIPAL_FULL,
  PRINCIPAL_FULL_OF_BYTES,
  SERVER_FULL,
  SERVER_FULL_OF_BYTES,
} from '@mrtr/shapes/internal';
import { ContinuationLost, type LinearRound, type LinearStore, type RoundEnd } from '@mrtr/shapes/linear';
import type { CallRow } from './call-table.ts';
import { type DbosStoreOptions, resolveOptions, type Settings } from './options.ts';
import { watchOwner } from './owner-watch.ts';
import { newInstance } from './presence.ts';
import {
  type CallHeader,
  CallKey,
  callerRecord,
  hashAnswers,
  headerOf,
  latestIn,
  type RoundMessage,
  revivedError,
  type TurnRecord,
  targetDigest,
  Unopened,
} from './records.ts';
import { releaseQueue } from './release-queue.ts';
import { type AwaitedTurn, remindOwner } from './remind-owner.ts';
import { type CallHost, KEEP_SECONDS, type RunningCall, runningCall, UNRECORDED } from './running-call.ts';
import { Runtime } from './runtime.ts';
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

/**
 * Keeps the calls of `linear` in PostgreSQL, as workflows of DBOS. A waiting handler is parked in the process that runs
 * it. When that process is gone, the instance that receives the next answer runs the handler again up to its place. It
 * replays the values of `ctx.once` and the answers from their records. Code outside `ctx.once` runs again.
 *
 * The store runs one step at a time, and none while a question waits. So a step that waits for another step, or for an
 * answer, waits for ever. Arguments must be JSON, or the `URL` of a resource. The store rejects a call whose schema
 * transforms them into other values.
 *
 * The store serves each token once by itself, so the server's ledger gives no lease for its tools. Other tools of the
 * server keep the policy's single use.
 *
 * One store may serve any number of tools; it must outlive each `McpServer`, which may serve a single request. DBOS runs once per
 * process: stores that are open at once in a process must have the same `postgres`, `schema`, `version` and `poolSize`, and
 * no other code may launch DBOS there. An open store keeps the process alive; close it.
 *
 * @example
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY], ledger });
 * const store = await DbosStore.open({ postgres: process.env.DATABASE_URL, policy, version: '2026-11-22' });
 * server.registerTool('deploy', { inputSchema }, linear(deploy, { store }));
 */
export class DbosStore implements LinearStore {
  /** The database decides which answer counts, and another process needs the retry to resume the call of a dead one. */
  readonly servesTokensOnce = true;
  readonly #options: Settings;
  readonly #runtime: Runtime;
  readonly #instance: string;
  readonly #turnListeners = new TurnListeners();
  readonly #stopSweep: () => Promise<void>;
  /** The calls that run or wait in this process. */
  readonly #running = new Map<string, RunningCall>();
  readonly #rounds = new Set<Promise<unknown>>();
  /** Rejects the waiting requests, when the database has been unreachable for too long. */
  readonly #waiting = new Set<() => void>();
  readonly #host: CallHost;
  readonly #releaseQueue: ReturnType<typeof releaseQueue>;
  #closing: Promise<void> | undefined;

  private constructor(runtime: Runtime, instance: string, options: Settings) {
    this.#options = options;
    this.#runtime = runtime;
    this.#instance = instance;
    this.#host = {
      ...{ instance, runtime, settings: options, turnListeners: this.#turnListeners, running: this.#running },
      forget: (call) => this.#forget(call),
      release: (call) => this.#release(call),
    };
    this.#releaseQueue = releaseQueue(this.#host);
    this.#stopSweep = startSweep(options, runtime);
    addGauge('frames.parked', this, ({ parked }) => parked);
  }

  /**
   * Connects, creates missing tables, and shows this instance as alive.
   *
   * @throws InvalidOption for an invalid option, and when this process runs DBOS with another configuration.
   * @throws Error of the database if it is unreachable.
   */
  static async open(options: DbosStoreOptions): Promise<DbosStore> {
    return DbosStore.openWith(resolveOptions(options));
  }

  /** @internal Opens a store with times of its own, for tests. */
  static async openWith(settings: Settings): Promise<DbosStore> {
    const runtime = await Runtime.acquire(settings);
    const instance = newInstance();
    const store = new DbosStore(runtime, instance, settings);
    try {
      await runtime.presence.hold(instance, {
        message: (text) => void store.#handleNotification(text),
        lost: () => store.#running.forEach((call) => void call.fireSignal()),
        held: () => store.#running.forEach((call) => void call.renewSignal()),
        abandon: () => store.#abandonTurns(),
      });
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  /** How many handlers are parked in this process. More calls may wait in the database alone. */
  get parked(): number {
    return [...this.#running.values()].filter(({ parkedAt }) => parkedAt !== undefined).length;
  }

  /**
   * Starts a call, or sends its answers to the instance that runs it. Waits until the call asks or settles.
   *
   * @throws StoreFull at the limit of all calls, or of this principal's, and after `close()`.
   * @throws ContinuationLost if the call cannot be resumed, or the database is unreachable.
   * @throws NotJson when the arguments of a new call are not JSON.
   */
  async runRound(round: LinearRound): Promise<RoundEnd> {
    if (this.#closing)
      throw round.id === undefined ? new StoreFull(NO_NEW_CALLS) : lostContinuation(ELSEWHERE);
    if (round.id === undefined && !(round.input instanceof URL)) assertJson(round.input, ARGUMENTS);
    const served = this.#serve(round);
    this.#rounds.add(served);
    try {
      return await served;
    } catch (error) {
      if (error instanceof ContinuationLost || error instanceof StoreFull) throw error;
      // Only the operator may see the database's error.
      this.#options.onerror(error as Error);
      throw lostContinuation(error instanceof Unopened ? LOST : UNREACHABLE);
    } finally {
      this.#rounds.delete(served);
    }
  }

  /**
   * Waits a few seconds for the open rounds, and then abandons every call, so that other instances can resume them.
   * Handlers that still run are not stopped, but the store records nothing more of them.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    this.#releaseQueue.close();
    const over = new AbortController();
    const late = delay(DRAIN_MS, undefined, over).catch(() => {});
    await Promise.race([Promise.allSettled([...this.#rounds]), late]);
    over.abort();
    const waiting: string[] = [];
    for (const call of [...this.#running.values()]) {
      call.abandon();
      if (call.parkedAt !== undefined) waiting.push(call.id);
      this.#running.delete(call.id);
    }
    await this.#stopSweep();
    // DBOS may still receive their answers here, but runs nothing of them.
    await this.#runtime.calls.release(waiting, this.#instance).catch(this.#options.onerror);
    await this.#runtime.presence.drop(this.#instance).catch(this.#options.onerror);
    await this.#runtime.release();
  }

  #abandonTurns() {
    for (const call of [...this.#running.values()]) {
      const ended = call.abandonTurn();
      if (ended) this.#releaseQueue.releaseAfter(ended, call.id);
    }
    for (const end of this.#waiting) end();
  }

  /** Rejects when the database is unreachable: a statement on a connection that was cut may never end. */
  async #whileReachable<Result>(result: Promise<Result>) {
    let end = () => {};
    const unreachable = new Promise<never>((_resolve, reject) => {
      end = () => reject(lostContinuation(UNREACHABLE));
    });
    this.#waiting.add(end);
    try {
      return await Promise.race([result, unreachable]);
    } finally {
      this.#waiting.delete(end);
    }
  }

  async #serve(round: LinearRound): Promise<RoundEnd> {
    const { call, ctx } = round;
    const { signal } = ctx.mcpReq;
    const awaited = await (round.id === undefined ? this.#start(round) : this.#answer(round, round.id));
    const request = new AbortController();
    void remindOwner(this.#runtime, awaited, this.#options.onerror, request.signal);
    const cancel = () => void this.#endCall(awaited, CLIENT_CANCELLED);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      const record = await this.#whileReachable(this.#outcome(awaited, round, request.signal));
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
      const over = () => void this.#endCall(next, CLIENT_CANCELLED);
      if (!speaksMrtr(ctx)) signal.addEventListener('abort', over, { once: true });
      const id = `${awaited.callKey.call}.${awaited.turn}`;
      return { kind: 'asked', id, requests: record.requests, unfit };
    } finally {
      request.abort();
      this.#running.get(awaited.callKey.call)?.forgetRequest(ctx);
      signal.removeEventListener('abort', cancel);
    }
  }

  async #start(round: LinearRound): Promise<AwaitedTurn> {
    const { handler, input, call, ctx } = round;
    const { bytes, calls } = this.#options.limits;
    if (this.#running.size >= calls) throw new StoreFull(SERVER_FULL);
    const heldTotal = [...this.#running.values()].reduce((sum, running) => sum + running.heldBytes, 0);
    if (heldTotal + heldBytes(input, bytes) > bytes) throw new StoreFull(SERVER_FULL_OF_BYTES);
    const { id } = call;
    const callKey = CallKey.make(id);
    const sealed = callKey.seal(headerOf(round), 'head');
    // Pass the arguments through JSON, so that a second run of the handler sees equal ones.
    const head = callKey.open<CallHeader>(sealed, 'head');
    const running = runningCall(callKey, head, handler, 0, this.#host, ctx);
    this.#running.set(id, running);
    try {
      await this.#admit(callKey, sealed, head);
    } catch (error) {
      this.#running.delete(id);
      if (error instanceof StoreFull) throw error;
      this.#options.onerror(error as Error);
      throw new StoreFull(NOT_NOW);
    }
    const begun = { callKey, turn: 1 };
    try {
      await this.#runtime.start(id, () => running.run());
    } catch (error) {
      this.#running.delete(id);
      await this.#endCall(begun, UNRECORDED);
      throw error;
    }
    return begun;
  }

  async #admit(callKey: CallKey, sealed: Buffer, header: CallHeader) {
    const { limits, policy, ttlSeconds, version } = this.#options;
    const [id, instance, { pseudonym }] = [callKey.call, this.#instance, header];
    const [key, target] = [callKey.sealKey(keyRingOf(policy)), targetDigest(header, keyRingOf(policy))];
    const { calls, bytes, perPrincipal } = limits;
    const ofPrincipal = { calls: ownLimit(calls, perPrincipal), bytes: ownLimit(bytes, perPrincipal) };
    const call = { id, instance, version, pseudonym, target, key, head: sealed, ttlSeconds, ofPrincipal };
    const full = await this.#runtime.calls.add(call);
    if (full) throw new StoreFull(full === 'calls' ? PRINCIPAL_FULL : PRINCIPAL_FULL_OF_BYTES);
  }

  async #answer({ call, ctx }: LinearRound, continuation: string): Promise<AwaitedTurn> {
    const at = continuation.lastIndexOf('.');
    const [id, turn] = [continuation.slice(0, at), Number(continuation.slice(at + 1))];
    const row = await this.#runtime.calls.read(id);
    if (!row) throw lostContinuation();
    const callKey = CallKey.of(id, row.key, keyRingOf(this.#options.policy));
    const head = callKey.open<CallHeader>(row.head, 'head');
    const latest = latestIn(row, callKey);
    if (
      !call.isPseudonym(latest?.pseudonym ?? head.pseudonym) ||
      head.method !== call.method ||
      head.target !== call.target
    ) {
      const about = { ...call, id };
      this.#options.onerror(withCallInMessage('Presented by another principal, or for another tool.', about));
      throw lostContinuation();
    }
    const answers = Object.entries(ctx.mcpReq.inputResponses ?? {});
    const responses = Object.fromEntries(answers.map(([key, response]) => [key, keepStamp(response)]));
    const awaited = { callKey, turn: turn + 1, answers: hashAnswers(responses, head) };
    // A client that lost its connection or its instance sends the same answer again, and gets its result.
    if (row.turn === awaited.turn && latest?.answers === awaited.answers) return awaited;
    if (row.done || row.expired || row.turn !== turn) throw lostContinuation();
    this.#checkVersion(row);
    const asked = call.asked && [...call.asked];
    const { askable, pseudonym } = call;
    const caller = callerRecord(ctx);
    const message: RoundMessage = { responses, asked, askable, pseudonym, caller, from: this.#instance };
    const sealed = callKey.seal(message, `answers ${turn}`).toString('base64');
    this.#running.get(id)?.useRequest(ctx);
    await this.#runtime.send(id, sealed, String(turn));
    return { ...awaited, message: sealed };
  }

  /**
   * Waits until the turn ends or the request is over. Takes the call over if no live instance runs it.
   */
  async #outcome(awaited: AwaitedTurn, round: LinearRound, request: AbortSignal) {
    const { turn, callKey } = awaited;
    const id = callKey.call;
    const whyFree = watchOwner(this.#options.takeOverSeconds * 1000);
    for (let looks = 0; !request.aborted; looks++) {
      const wait = this.#turnListeners.listen(id, turn);
      try {
        const running = this.#running.get(id);
        // Before the listener was there, a turn may have been published: read it.
        if (looks > 0 || !running || running.published >= turn) {
          const row = await this.#runtime.calls.read(id);
          const ended = row?.turn === turn ? latestIn(row, callKey) : undefined;
          if (ended) return ended;
          if (!row || row.turn > turn) throw lostContinuation();
          const isOurs = row.instance === this.#instance;
          if (running && !isOurs) this.#forget(running);
          const free = isOurs || (await whyFree(row, () => this.#runtime.hasAnswers(id, row.turn)));
          if (free && !request.aborted) await this.#takeOver(callKey, row, round, free === 'nothing runs');
        }
        const elsewhere = Math.min(LOOK_SOON_MS * 2 ** looks, LOOK_ELSEWHERE_MS);
        const record = await wait.next(this.#running.has(id) ? LOOK_HERE_MS : elsewhere);
        if (record) return record;
      } finally {
        wait.stop();
      }
    }
    throw lostContinuation(UNREACHABLE);
  }

  /** @param ownerWasIdle the call waited for its user when its owner died, so no wait came before this. */
  async #takeOver(callKey: CallKey, row: CallRow, { handler, ctx }: LinearRound, ownerWasIdle: boolean) {
    const id = callKey.call;
    if (this.#running.has(id)) return;
    this.#checkVersion(row);
    if (this.#closing) throw lostContinuation(ELSEWHERE);
    const head = callKey.open<CallHeader>(row.head, 'head');
    const running = runningCall(callKey, head, handler, row.turn, this.#host, ctx);
    this.#running.set(id, running);
    this.#runtime.expect(id, () => running.run());
    const withdraw = () => {
      this.#runtime.unexpect(id);
      this.#running.delete(id);
    };
    try {
      const isOwner = await this.#becomeOwner(id, row, ownerWasIdle);
      const isResumed = isOwner && (await this.#runtime.resume(id));
      // DBOS has recorded the call as over. Its owner could not publish the end, so publish it here.
      if (isOwner && !isResumed) await this.#endCall({ callKey, turn: row.turn + 1 }, UNRECORDED);
      if (isResumed) setTimeout(() => running.hasBegun || this.#release(running), BEGIN_WITHIN_MS).unref();
      else withdraw();
    } catch (error) {
      this.#release(running);
      withdraw();
      throw error;
    }
  }

  /** Returns false if another instance owns the call: it was faster, or the old owner is alive again. */
  async #becomeOwner(id: string, row: CallRow, ownerWasIdle: boolean) {
    // A handler that this instance abandoned may still run here.
    await this.#releaseQueue.waitUntilSettled(id);
    if (!(await this.#runtime.calls.takeOver(id, row.instance, this.#instance))) return false;
    // The old owner received the answers before it noticed the loss of its session. Its turn may still run.
    if (ownerWasIdle && (await this.#runtime.hasAnswers(id, row.turn)))
      await delay(this.#options.takeOverSeconds * 1000, undefined, { ref: false });
    return true;
  }

  /** Forgets and releases a call that another execution replaced, that failed to start, or that DBOS never began. */
  #release(call: { readonly id: string }) {
    if (this.#running.get(call.id) !== call) return;
    this.#runtime.unexpect(call.id);
    this.#forget(call);
    this.#releaseQueue.release(call.id);
  }

  /** Ends a call in the awaited turn. Does nothing if that turn has ended. */
  async #endCall({ callKey, turn }: AwaitedTurn, why: string) {
    const id = callKey.call;
    try {
      const record: TurnRecord = { kind: 'lost', why };
      const body = callKey.seal(record, `turn ${turn}`);
      if (!(await this.#runtime.calls.end(id, { turn, body, keepSeconds: KEEP_SECONDS }))) return;
      this.#running.get(id)?.end(why);
      this.#turnListeners.notify(id, turn, record);
    } catch (error) {
      this.#options.onerror(error as Error);
    }
  }

  /** Handles a notification from another instance: a turn ended, or a call has to end. */
  async #handleNotification(message: string) {
    const [what, id = ''] = message.split(' ');
    this.#turnListeners.notify(id);
    if (what !== 'end' || !this.#running.has(id)) return;
    try {
      // Read the table first: any role that can connect could send the notification.
      const row = await this.#runtime.calls.read(id);
      if (row?.done) this.#running.get(id)?.end(CLIENT_CANCELLED);
    } catch (error) {
      this.#options.onerror(error as Error);
    }
  }

  #checkVersion({ version, dead }: CallRow) {
    if (!dead || version === this.#options.version) return;
    throw lostContinuation(
      `This call began on version '${version}' of this server, and no instance of that version is left. Version ` +
        `'${this.#options.version}' cannot resume it. Start the call again.`,
    );
  }

  #forget(call: { readonly id: string }) {
    if (this.#running.get(call.id) === call) this.#running.delete(call.id);
    this.#turnListeners.notify(call.id);
  }
}

const lostContinuation = (why = LOST) => new ContinuationLost(why);
