/** The durable store of shape H: any instance with the same keys and database can resume a call. */
import { setTimeout as delay } from 'node:timers/promises';
import { StoreFull, speaksMrtr } from '@mrtr/core';
import { addGauge, withCallInMessage } from '@mrtr/core/kit';
import { keyRingOf } from '@mrtr/core/seal';
import { askProblem } from '@mrtr/core/shape';
import { ContinuationLost } from '@mrtr/shapes/linear';
import {
  assertJson,
  CLIENT_CANCELLED,
  heldBytes,
  type LinearRound,
  type LinearStore,
  NO_NEW_CALLS,
  PRINCIPAL_FULL,
  PRINCIPAL_FULL_OF_BYTES,
  type RoundEnd,
  SERVER_FULL,
  SERVER_FULL_OF_BYTES,
} from '@mrtr/shapes/linear-store';
import type { CallRow } from './call-table.ts';
import { LettingGo } from './letting-go.ts';
import { type DbosStoreOptions, resolveOptions, type Settings } from './options.ts';
import { watchOwner } from './ownerless.ts';
import { newInstance } from './presence.ts';
import {
  type CallHeader,
  CallKey,
  callerRecord,
  hashAnswers,
  headerOf,
  latestIn,
  type Message,
  revivedError,
  type TurnRecord,
  targetDigest,
  Unopened,
} from './records.ts';
import { type AwaitedTurn, remindOwner } from './reminding.ts';
import { type CallHost, KEEP_SECONDS, RunningCall, UNRECORDED } from './running-call.ts';
import { Runtime } from './runtime.ts';
import { sweepEvery } from './sweep.ts';
import { TurnListeners } from './turn-listeners.ts';

// A call that runs here notifies the request. These looks only check that it still runs here.
const LOOK_HERE_MS = 2500;
const LOOK_ELSEWHERE_MS = 500;
// The session of a dead instance may end a little after the first look.
const LOOK_SOON_MS = 50;
const DRAIN_MS = 5000;
// DBOS begins a call that was taken over in about a tenth of a second. One that it dequeues while its connection ends,
// it forgets.
const BEGIN_WITHIN_MS = 2000;
const LOST =
  'This call cannot be resumed here: its continuation expired, was resumed already, or is unknown. Start the call again.';
const ELSEWHERE =
  'This server is shutting down. The call is kept: send the same answer again, for another instance.';
const NOT_NOW = 'This server cannot keep calls now. Nothing of this call has run; try again later.';
const UNREACHABLE =
  'The calls of this server cannot be reached now. Send the same answer again later, or start the call again.';
const ARGUMENTS = 'The input of a linear handler on a DbosStore';

/**
 * Holds the calls of `linear` in PostgreSQL, as workflows of DBOS. A waiting handler is parked in the process that runs
 * it. When that process is gone, the instance that gets the next answer runs the handler again up to its place, with
 * the recorded values of `ctx.once` and the recorded answers. Code outside `ctx.once` runs again.
 *
 * The store runs one step at a time, and none while a question waits. So a step that waits for another step, or for an
 * answer, waits for ever. Arguments must be JSON, or the `URL` of a resource: the store refuses the call of a schema
 * that makes other values of them.
 *
 * Set the policy's `singleUse` to false. The store takes an answer only once in any case, and a ledger would refuse the
 * retry with which another process resumes the call of a dead one.
 *
 * One store may serve any number of tools; it must outlive the server instances of single requests. There is one DBOS
 * per process: stores that are open at once in a process must have the same `postgres`, `schema`, `version` and
 * `poolSize`, and no other code may launch DBOS there. An open store keeps the process alive; close it.
 *
 * @example
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY], singleUse: false });
 * const store = await DbosStore.open({ postgres: process.env.DATABASE_URL, policy, version: '2026-11-22' });
 * server.registerTool('deploy', { inputSchema }, linear(deploy, { store }));
 */
export class DbosStore implements LinearStore {
  readonly #options: Settings;
  readonly #runtime: Runtime;
  readonly #instance: string;
  readonly #turnListeners = new TurnListeners();
  readonly #stopSweep: () => Promise<void>;
  /** The calls that run or wait in this process. */
  readonly #running = new Map<string, RunningCall>();
  readonly #rounds = new Set<Promise<unknown>>();
  /** Ends the requests that wait, when the database has been out of reach for too long. */
  readonly #waiting = new Set<() => void>();
  readonly #lettingGo: LettingGo;
  #closing: Promise<void> | undefined;

  private constructor(runtime: Runtime, instance: string, options: Settings) {
    this.#options = options;
    this.#runtime = runtime;
    this.#instance = instance;
    this.#lettingGo = new LettingGo({
      instance,
      takeOverMs: options.takeOverSeconds * 1000,
      runtime,
      runs: (id) => this.#running.has(id),
      report: options.onerror,
      released: (id) => this.#turnListeners.notify(id),
    });
    this.#stopSweep = sweepEvery(options.sweepSeconds, runtime, options.onerror);
    addGauge('frames.parked', this, ({ parked }) => parked);
  }

  /**
   * Connects, creates missing tables, and shows this instance as alive.
   *
   * @throws InvalidOption for an invalid option, and when this process runs DBOS with another configuration.
   * @throws Error of the database when it cannot be reached.
   */
  static async open(options: DbosStoreOptions): Promise<DbosStore> {
    const settings = resolveOptions(options);
    const runtime = await Runtime.acquire(settings);
    const instance = newInstance();
    const store = new DbosStore(runtime, instance, settings);
    try {
      await runtime.presence.hold(instance, {
        message: (text) => store.#handleNotification(text),
        lost: () => store.#running.forEach((call) => void call.interrupt()),
        held: () => store.#running.forEach((call) => void call.continue()),
        gone: () => store.#giveUpRunning(),
      });
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  /** How many handlers are parked in this process. Other calls may wait only in the database. */
  get parked(): number {
    return [...this.#running.values()].filter(({ parkedAt }) => parkedAt !== undefined).length;
  }

  /**
   * Starts a call, or sends its answers to the instance that runs it, and waits until it asks or settles.
   *
   * @throws StoreFull when the limit of all calls, or of this principal's, is reached, and after `close()`.
   * @throws ContinuationLost when the call cannot be resumed, or the database cannot be reached.
   * @throws NotJson when the arguments of a new call are not JSON.
   */
  async round(round: LinearRound): Promise<RoundEnd> {
    if (this.#closing)
      throw round.id === undefined ? new StoreFull(NO_NEW_CALLS) : lostContinuation(ELSEWHERE);
    if (round.id === undefined && !(round.input instanceof URL)) assertJson(round.input, ARGUMENTS);
    const served = this.#serve(round);
    this.#rounds.add(served);
    try {
      return await served;
    } catch (error) {
      if (error instanceof ContinuationLost || error instanceof StoreFull) throw error;
      // The database's error is for the operator.
      this.#options.onerror(error as Error);
      throw lostContinuation(error instanceof Unopened ? LOST : UNREACHABLE);
    } finally {
      this.#rounds.delete(served);
    }
  }

  /**
   * Waits a few seconds for the open rounds, and then abandons every call: other instances can resume them. The store
   * does not stop handlers that still run, but records nothing more of them.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#lettingGo.close();
    const over = new AbortController();
    const late = delay(DRAIN_MS, undefined, over).catch(() => {});
    await Promise.race([Promise.allSettled([...this.#rounds]), late]);
    over.abort();
    const waiting: string[] = [];
    for (const call of [...this.#running.values()]) {
      call.release();
      if (call.parkedAt !== undefined) waiting.push(call.id);
      this.#running.delete(call.id);
    }
    await this.#stopSweep();
    // DBOS here may still receive their answers; nothing of them runs here any more.
    await this.#runtime.calls.release(waiting, this.#instance).catch(this.#options.onerror);
    await this.#runtime.presence.drop(this.#instance).catch(this.#options.onerror);
    await this.#runtime.release();
  }

  #giveUpRunning(): void {
    for (const call of [...this.#running.values()]) {
      const ended = call.giveUp();
      if (ended) this.#lettingGo.when(ended, call.id);
    }
    for (const end of this.#waiting) end();
  }

  /** A statement on a connection that is cut off may never end. */
  async #whileReachable<Result>(result: Promise<Result>): Promise<Result> {
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
    const giveUp = () => void this.#giveUp(awaited, CLIENT_CANCELLED);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      const record = await this.#whileReachable(this.#outcome(awaited, round, request.signal));
      if (record.kind === 'lost') throw lostContinuation(record.why);
      // Another request answered at the same time and came first. Its result is not for this request.
      if (record.answers !== awaited.answers) throw lostContinuation();
      if (record.kind === 'threw') return { kind: 'threw', error: revivedError(record.error) };
      if (record.kind === 'returned') return { kind: 'returned', value: record.value };
      if (record.overLimit !== undefined) {
        // The boundary refuses it too, unless the call began with a stricter policy or another client.
        if (!askProblem(call, record.requests)) throw lostContinuation(record.overLimit);
        return { ...record, id: undefined };
      }
      // The shim makes all rounds within one request. When that ends, the call ends.
      const next = { callKey: awaited.callKey, turn: awaited.turn + 1 };
      const over = () => void this.#giveUp(next, CLIENT_CANCELLED);
      if (!speaksMrtr(ctx)) signal.addEventListener('abort', over, { once: true });
      return { kind: 'asked', id: `${awaited.callKey.call}.${awaited.turn}`, requests: record.requests };
    } finally {
      request.abort();
      this.#running.get(awaited.callKey.call)?.forgetRequest(ctx);
      signal.removeEventListener('abort', giveUp);
    }
  }

  async #start(round: LinearRound): Promise<AwaitedTurn> {
    const { handler, input, call, ctx } = round;
    const { maxBytes, maxOpenCalls } = this.#options;
    if (this.#running.size >= maxOpenCalls) throw new StoreFull(SERVER_FULL);
    const held = [...this.#running.values()].reduce((sum, running) => sum + running.heldBytes, 0);
    if (held + heldBytes(input, maxBytes) > maxBytes) throw new StoreFull(SERVER_FULL_OF_BYTES);
    const { id } = call;
    const callKey = CallKey.make(id);
    const sealed = callKey.seal(headerOf(round), 'head');
    // Use the arguments as they come back from JSON, so that a handler that is run again sees the same.
    const head = callKey.open<CallHeader>(sealed, 'head');
    const running = new RunningCall(callKey, head, handler, 0, this.#host);
    running.request = ctx;
    this.#running.set(running.id, running);
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
      await this.#giveUp(begun, UNRECORDED);
      throw error;
    }
    return begun;
  }

  async #admit(callKey: CallKey, sealed: Buffer, header: CallHeader): Promise<void> {
    const { maxBytesPerPrincipal, maxOpenCallsPerPrincipal, policy, ttlSeconds, version } = this.#options;
    const [id, instance, { pseudonym }] = [callKey.call, this.#instance, header];
    const [key, target] = [callKey.key(keyRingOf(policy)), targetDigest(header, keyRingOf(policy))];
    const ofPrincipal = { calls: maxOpenCallsPerPrincipal, bytes: maxBytesPerPrincipal };
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
      const about = { ...call, call: id };
      this.#options.onerror(withCallInMessage('Presented by another principal, or for another tool.', about));
      throw lostContinuation();
    }
    const { inputResponses: responses } = ctx.mcpReq;
    const awaited = { callKey, turn: turn + 1, answers: hashAnswers(responses, head) };
    // A client whose connection or instance was lost sends the same answer again, and gets its result.
    if (row.turn === awaited.turn && latest?.answers === awaited.answers) return awaited;
    if (row.done || row.expired || row.turn !== turn) throw lostContinuation();
    this.#checkVersion(row);
    const asked = call.asked && [...call.asked];
    const { askable, pseudonym } = call;
    const caller = callerRecord(ctx);
    const message: Message = { responses, asked, askable, pseudonym, caller, from: this.#instance };
    const sealed = callKey.seal(message, `answers ${turn}`).toString('base64');
    const running = this.#running.get(id);
    if (running) running.request = ctx;
    await this.#runtime.send(id, sealed, String(turn));
    return { ...awaited, message: sealed };
  }

  /**
   * Waits for the end of the turn, until the request is over. If no live instance runs the call, this instance takes it
   * over.
   */
  async #outcome(awaited: AwaitedTurn, round: LinearRound, request: AbortSignal): Promise<TurnRecord> {
    const { turn, callKey } = awaited;
    const id = callKey.call;
    const whyFree = watchOwner(this.#options.takeOverSeconds * 1000);
    for (let looks = 0; !request.aborted; looks++) {
      const wait = this.#turnListeners.listen(id, turn);
      try {
        const running = this.#running.get(id);
        // The database holds turns that were published before this began to listen.
        if (looks > 0 || !running || running.published >= turn) {
          const row = await this.#runtime.calls.read(id);
          const ended = row && recordIn(row, awaited);
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

  /** @param ranNothing whether nothing of the call ran a moment ago, so that nobody has waited for its owner. */
  async #takeOver(
    callKey: CallKey,
    row: CallRow,
    { handler, ctx }: LinearRound,
    ranNothing: boolean,
  ): Promise<void> {
    const id = callKey.call;
    if (this.#running.has(id)) return;
    this.#checkVersion(row);
    if (this.#closing) throw lostContinuation(ELSEWHERE);
    const head = callKey.open<CallHeader>(row.head, 'head');
    const running = new RunningCall(callKey, head, handler, row.turn, this.#host);
    running.request = ctx;
    this.#running.set(running.id, running);
    this.#runtime.expect(id, () => running.run());
    let isMine = false;
    try {
      // What this instance gave up may still run here.
      await this.#lettingGo.waitUntilSettled(id);
      isMine = await this.#runtime.calls.takeOver(id, row.instance, this.#instance);
      // The owner had lost its session and not noticed, and has received the answers meanwhile.
      if (isMine && ranNothing && (await this.#runtime.hasAnswers(id, row.turn))) await this.#waitForOwner();
      // DBOS has recorded the call as over, but nothing was published: its owner could no longer reach the database.
      if (isMine && !(await this.#runtime.resume(id))) {
        isMine = false;
        await this.#giveUp({ callKey, turn: row.turn + 1 }, UNRECORDED);
      }
      if (isMine) setTimeout(() => running.hasBegun || this.#letGo(running), BEGIN_WITHIN_MS).unref();
    } catch (error) {
      isMine = false;
      this.#letGo(running);
      throw error;
    } finally {
      if (!isMine) {
        this.#runtime.unexpect(id);
        this.#running.delete(id);
      }
    }
  }

  /** Lets another instance take over a call that another execution replaced, that failed to start, or that DBOS forgot. */
  #letGo(call: RunningCall): void {
    if (this.#running.get(call.id) !== call) return;
    this.#runtime.unexpect(call.id);
    this.#forget(call);
    this.#lettingGo.now(call.id);
  }

  #waitForOwner(): Promise<void> {
    return delay(this.#options.takeOverSeconds * 1000, undefined, { ref: false });
  }

  /** Ends a call whose client has gone, in the awaited turn. Does nothing if that turn has ended. */
  async #giveUp({ callKey, turn }: AwaitedTurn, why: string): Promise<void> {
    const id = callKey.call;
    try {
      const record: TurnRecord = { kind: 'lost', why };
      const body = callKey.seal(record, `turn ${turn}`);
      if (!(await this.#runtime.calls.end(id, { turn, done: true, body, keepSeconds: KEEP_SECONDS }))) return;
      this.#running.get(id)?.abort(why);
      this.#turnListeners.notify(id, turn, record);
    } catch (error) {
      this.#options.onerror(error as Error);
    }
  }

  /** Handles a notification of another instance: a turn has ended, or a call has to end. */
  #handleNotification(message: string): void {
    const [what, id = ''] = message.split(' ');
    if (what === 'end' && this.#running.has(id)) void this.#endIfOver(id);
    this.#turnListeners.notify(id);
  }

  /** Any role that can connect may send a notification to end a call, so only the table counts. */
  async #endIfOver(id: string): Promise<void> {
    try {
      const row = await this.#runtime.calls.read(id);
      if (row?.done) this.#running.get(id)?.abort(CLIENT_CANCELLED);
    } catch (error) {
      this.#options.onerror(error as Error);
    }
  }

  #checkVersion({ version, dead }: CallRow): void {
    if (!dead || version === this.#options.version) return;
    throw lostContinuation(
      `This call began on version '${version}' of this server, and no instance of that version is left. Version ` +
        `'${this.#options.version}' cannot resume it. Start the call again.`,
    );
  }

  get #host(): CallHost {
    return {
      instance: this.#instance,
      ttlSeconds: this.#options.ttlSeconds,
      runtime: this.#runtime,
      policy: this.#options.policy,
      turnListeners: this.#turnListeners,
      report: this.#options.onerror,
      ended: (call) => this.#forget(call),
      letGo: (call) => this.#letGo(call),
    };
  }

  #forget(call: RunningCall): void {
    if (this.#running.get(call.id) === call) this.#running.delete(call.id);
    this.#turnListeners.notify(call.id);
  }
}

/** The result of a turn, if it is the latest one. */
const recordIn = (row: CallRow, { turn, callKey }: AwaitedTurn): TurnRecord | undefined =>
  row.turn === turn ? latestIn(row, callKey) : undefined;

const lostContinuation = (why = LOST): ContinuationLost => new ContinuationLost(why);
