/** Where handlers of shape H wait durably: any instance with the same keys and database can go on with a call. */
import { randomBytes } from 'node:crypto';
import { ContinuationLost, pseudonym, StoreFull, speaksMrtr } from '@mrtr/core';
import { askableKinds, type LinearRound, type LinearStore, type Turn } from '@mrtr/shapes/linear-store';
import type { CallRow } from './calls.ts';
import { News } from './news.ts';
import { type DbosStoreOptions, type Settings, settled } from './options.ts';
import { newInstance } from './presence.ts';
import { type Head, type Message, revivedError, type TurnRecord, unreadAnswers, Vault } from './records.ts';
import { type Host, KEEP_SECONDS, LOOK_AGAIN_MS, RunningCall, UNRECORDED } from './running-call.ts';
import { Runtime } from './runtime.ts';
import { Sweep } from './sweep.ts';

/** What a request waits for. */
interface AwaitedTurn {
  readonly id: string;
  readonly turn: number;
  /** The answers that it is to come of, as they were sent. */
  readonly message?: string;
}

const REMIND_MS = 1000;
// Of a call that runs here it is told; it looks only whether that still is so.
const LOOK_HERE_MS = 2500;
const LOOK_ELSEWHERE_MS = 500;
const DRAIN_MS = 5000;
const LOST =
  'This call cannot go on here: its continuation expired, was resumed already, or is unknown. Start the call again.';
const NO_NEW_CALLS = 'This server is shutting down and takes no new calls of this kind.';
const ELSEWHERE =
  'This server is shutting down. The call is kept: send the same answer again, for another instance.';
const UNREACHABLE =
  'The calls of this server cannot be reached now. Send the same answer again later, or start the call again.';
const CLIENT_CANCELLED = 'The client cancelled the call.';
const OPEN_CALLS =
  'unanswered calls open. Answer or cancel one of them, or try again later. Nothing of this call has run.';

/**
 * Holds the calls of `linear` in PostgreSQL, as workflows of DBOS. A waiting handler is parked in the process that runs
 * it; when that process is gone, the instance that gets the next answer runs the handler again up to where it was, with
 * the recorded values of `ctx.run` and the recorded answers. Code outside of `ctx.run` runs again with it.
 *
 * One store may serve any number of tools; it must outlive the server instances of single requests. DBOS is one a
 * process: stores that are open at once in a process must have the same `postgres`, `schema`, `version` and `poolSize`,
 * and nobody else may launch DBOS there. An open store keeps the process alive; close it.
 *
 * @example
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY] });
 * const store = await DbosStore.open({ postgres: process.env.DATABASE_URL, policy, version: '2026-11-22' });
 * server.registerTool('deploy', { inputSchema }, linear(deploy, { store }));
 */
export class DbosStore implements LinearStore {
  readonly #options: Settings;
  readonly #runtime: Runtime;
  readonly #instance: string;
  readonly #vault: Vault;
  readonly #news = new News();
  readonly #sweep: Sweep;
  readonly #running = new Map<string, RunningCall>();
  readonly #rounds = new Set<Promise<unknown>>();
  // Admitted, and not in the database yet.
  readonly #entering = new Map<string, number>();
  #closing: Promise<void> | undefined;

  private constructor(runtime: Runtime, instance: string, options: Settings) {
    this.#options = options;
    this.#runtime = runtime;
    this.#instance = instance;
    this.#vault = new Vault(options.policy.ring);
    this.#sweep = new Sweep(runtime, options.sweepSeconds, options.onerror);
  }

  /**
   * Connects, makes the tables where they are not there, and shows this instance as alive.
   *
   * @throws InvalidPolicy for an option that cannot be honoured, and when this process runs DBOS in another way.
   * @throws Error of the database when it cannot be reached.
   */
  static async open(options: DbosStoreOptions): Promise<DbosStore> {
    const settings = settled(options);
    const runtime = await Runtime.acquire(settings);
    const instance = newInstance();
    const store = new DbosStore(runtime, instance, settings);
    try {
      await runtime.presence.hold(instance, (message) => store.#told(message));
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  /** How many handlers are parked in this process. Others may wait in the database alone. */
  get parked(): number {
    return [...this.#running.values()].filter(({ parkedAt }) => parkedAt !== undefined).length;
  }

  /**
   * Starts a call, or hands its answers to whoever runs it, and waits until it asks or settles.
   *
   * @throws StoreFull when there is no room for one more call, for anybody or for this principal, and after `close()`.
   * @throws ContinuationLost when the call cannot go on, or the database cannot be reached.
   */
  async round(round: LinearRound): Promise<Turn> {
    if (this.#closing) throw round.id === undefined ? new StoreFull(NO_NEW_CALLS) : lost(ELSEWHERE);
    const served = this.#serve(round);
    this.#rounds.add(served);
    try {
      return await served;
    } catch (error) {
      if (error instanceof ContinuationLost || error instanceof StoreFull) throw error;
      // What the database says is for the operator.
      this.#options.onerror(error as Error);
      throw lost(UNREACHABLE);
    } finally {
      this.#rounds.delete(served);
    }
  }

  /**
   * Waits a few seconds for the rounds that are being served, and lets go of every call: other instances can go on with
   * them. Handlers that still run are left to themselves; nothing more of them is recorded.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS);
    });
    await Promise.race([Promise.allSettled([...this.#rounds]), late]);
    clearTimeout(timer);
    for (const call of this.#running.values()) call.release();
    this.#running.clear();
    await this.#sweep.stop();
    await this.#runtime.presence.drop(this.#instance).catch(this.#options.onerror);
    await this.#runtime.release();
  }

  async #serve(round: LinearRound): Promise<Turn> {
    const { call, ctx, handler } = round;
    const { signal } = ctx.mcpReq;
    const awaited = round.id === undefined ? await this.#start(round) : await this.#answer(round, round.id);
    const stopReminding = this.#remind(awaited);
    const giveUp = () => void this.#giveUp(awaited, CLIENT_CANCELLED);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      const record = await this.#outcome(awaited, handler);
      if (record.kind === 'lost') throw lost(record.why);
      if (record.kind === 'threw') return { kind: 'threw', error: revivedError(record.error) };
      if (record.kind === 'returned') return { kind: 'returned', value: record.value };
      if (record.overdrawn !== undefined) {
        // The boundary refuses it, unless the call began under a stricter policy: its answer would begin another call.
        if (Object.keys(record.requests).length <= call.maxQuestions) throw lost(record.overdrawn);
        return { kind: 'asked', id: undefined, requests: record.requests };
      }
      // The shim's rounds are one request: its end is the call's.
      const next = { id: awaited.id, turn: awaited.turn + 1 };
      const over = () => void this.#giveUp(next, CLIENT_CANCELLED);
      if (!speaksMrtr(ctx)) signal.addEventListener('abort', over, { once: true });
      return { kind: 'asked', id: `${awaited.id}.${awaited.turn}`, requests: record.requests };
    } finally {
      stopReminding();
      signal.removeEventListener('abort', giveUp);
    }
  }

  /**
   * Wakes whoever runs the call, where PostgreSQL's notification of the answers was lost with a connection: another
   * message has another one sent. Less and less often, until the next look of a parked call does it.
   */
  #remind({ id, turn, message }: AwaitedTurn): () => void {
    if (message === undefined) return () => {};
    const topic = String(turn - 1);
    let wait = REMIND_MS;
    let timer: NodeJS.Timeout;
    const later = () => {
      timer = setTimeout(() => {
        this.#runtime.send(id, message, topic, `${topic} after ${wait}`).catch(this.#options.onerror);
        wait *= 2;
        if (wait < LOOK_AGAIN_MS) later();
      }, wait);
    };
    later();
    return () => clearTimeout(timer);
  }

  async #start({ handler, input, call, ctx }: LinearRound): Promise<AwaitedTurn> {
    const { maxCalls, policy } = this.#options;
    if (this.#running.size >= maxCalls) throw new StoreFull(`This server has too many ${OPEN_CALLS}`);
    const id = randomBytes(16).toString('base64url');
    const { method, target, principal, maxRounds, maxQuestions } = call;
    const caller = policy.principal(ctx);
    const askable = askableKinds(ctx);
    const salt = randomBytes(16).toString('base64url');
    const initial: Head = {
      method,
      target,
      input,
      caller,
      principal,
      askable,
      maxRounds,
      maxQuestions,
      salt,
    };
    const sealed = this.#vault.seal(initial, id, 'head');
    // As it will come back: a handler must not see other arguments when it is run again.
    const head = this.#vault.open<Head>(sealed, id, 'head');
    const running = new RunningCall(id, head, handler, 0, this.#host);
    this.#running.set(id, running);
    try {
      await this.#admit(id, sealed, caller);
    } catch (error) {
      this.#running.delete(id);
      throw error;
    }
    const begun = { id, turn: 1 };
    try {
      await this.#runtime.start(id, () => running.run());
    } catch (error) {
      this.#running.delete(id);
      await this.#giveUp(begun, UNRECORDED);
      throw error;
    }
    return begun;
  }

  async #admit(id: string, head: Buffer, caller: string | undefined): Promise<void> {
    const { maxCallsPerPrincipal, policy, ttlSeconds, version } = this.#options;
    const principal = caller === undefined ? undefined : pseudonym(caller, policy.ring);
    const entering = (principal !== undefined && this.#entering.get(principal)) || 0;
    if (principal !== undefined) this.#entering.set(principal, entering + 1);
    try {
      const maxOfPrincipal = maxCallsPerPrincipal - entering;
      const call = { id, instance: this.#instance, version, principal, head, ttlSeconds, maxOfPrincipal };
      if (!(await this.#runtime.calls.add(call))) throw new StoreFull(`You have too many ${OPEN_CALLS}`);
    } finally {
      const left = (principal !== undefined && this.#entering.get(principal)) || 1;
      if (principal !== undefined && left === 1) this.#entering.delete(principal);
      else if (principal !== undefined) this.#entering.set(principal, left - 1);
    }
  }

  async #answer({ call, ctx }: LinearRound, continuation: string): Promise<AwaitedTurn> {
    const at = continuation.lastIndexOf('.');
    const [id, turn] = [continuation.slice(0, at), Number(continuation.slice(at + 1))];
    const row = await this.#runtime.calls.read(id);
    if (!row) throw lost();
    const head = this.#headOf(id, row);
    const { caller, method, target } = head;
    if (caller !== this.#options.policy.principal(ctx) || method !== call.method || target !== call.target) {
      this.#options.onerror(new Error(`Call ${id} was presented by another principal, or for another tool.`));
      throw lost();
    }
    const { inputResponses: responses } = ctx.mcpReq;
    // A client whose connection or instance was lost says the same again, and gets what came of it.
    const said = row.turn === turn + 1 && row.answers === unreadAnswers(responses, head);
    if (said) return { id, turn: turn + 1 };
    if (row.done || row.expired || row.turn !== turn) throw lost();
    this.#checkVersion(row);
    const message: Message = { responses, askable: askableKinds(ctx), from: this.#instance };
    const sealed = this.#vault.seal(message, id, `answers ${turn}`).toString('base64');
    await this.#runtime.send(id, sealed, String(turn));
    return { id, turn: turn + 1, message: sealed };
  }

  /** How the turn ends, wherever the call runs; here, where it runs nowhere. */
  async #outcome({ id, turn }: AwaitedTurn, handler: LinearRound['handler']): Promise<TurnRecord> {
    for (let looks = 0; ; looks++) {
      const wait = this.#news.listen(id, turn);
      try {
        const running = this.#running.get(id);
        // What was told before this began to listen is in the database.
        if (looks > 0 || !running || running.published >= turn) {
          const row = await this.#runtime.calls.read(id);
          if (row?.turn === turn && row.body)
            return this.#vault.open<TurnRecord>(row.body, id, `turn ${turn}`);
          if (!row || row.turn > turn) throw lost();
          const isOurs = row.instance === this.#instance;
          if (running && (!isOurs || running.isOverdue)) this.#forget(running);
          if (isOurs || row.dead) await this.#takeOver(id, row, handler);
        }
        const record = await wait.heard(this.#running.has(id) ? LOOK_HERE_MS : LOOK_ELSEWHERE_MS);
        if (record) return record;
      } finally {
        wait.stop();
      }
    }
  }

  async #takeOver(id: string, row: CallRow, handler: LinearRound['handler']): Promise<void> {
    if (this.#running.has(id)) return;
    this.#checkVersion(row);
    if (this.#closing) throw lost(ELSEWHERE);
    const running = new RunningCall(id, this.#headOf(id, row), handler, row.turn, this.#host);
    this.#running.set(id, running);
    this.#runtime.expect(id, () => running.run());
    let isMine = false;
    try {
      isMine = await this.#runtime.calls.claim(id, row.instance, this.#instance);
      // Over for DBOS, and nothing published: what ended it could not reach the database any more.
      if (isMine && !(await this.#runtime.resume(id))) {
        isMine = false;
        await this.#giveUp({ id, turn: row.turn + 1 }, UNRECORDED);
      }
    } catch (error) {
      isMine = false;
      throw error;
    } finally {
      if (!isMine) {
        this.#runtime.unexpect(id);
        this.#running.delete(id);
      }
    }
  }

  /** Ends a call whose client is gone, in the turn that was awaited; when that has ended, nothing is to be done. */
  async #giveUp({ id, turn }: AwaitedTurn, why: string): Promise<void> {
    try {
      const record: TurnRecord = { kind: 'lost', why };
      const body = this.#vault.seal(record, id, `turn ${turn}`);
      if (!(await this.#runtime.calls.end(id, { turn, done: true, body, keepSeconds: KEEP_SECONDS }))) return;
      this.#running.get(id)?.abort(why);
      this.#news.tell(id, turn, record);
    } catch (error) {
      this.#options.onerror(error as Error);
    }
  }

  /** By another instance, through the database: that a turn has ended here, or that a call is to end. */
  #told(message: string): void {
    const [what, id = ''] = message.split(' ');
    if (what === 'end') this.#running.get(id)?.abort(CLIENT_CANCELLED);
    this.#news.tell(id);
  }

  #headOf(id: string, row: CallRow): Head {
    try {
      return this.#vault.open<Head>(row.head, id, 'head');
    } catch (error) {
      this.#options.onerror(error as Error);
      throw lost();
    }
  }

  #checkVersion({ version, dead }: CallRow): void {
    if (!dead || version === this.#options.version) return;
    throw lost(
      `This call began on version '${version}' of this server, no instance of which runs it any longer, and cannot go ` +
        `on on version '${this.#options.version}'. Start the call again.`,
    );
  }

  get #host(): Host {
    return {
      instance: this.#instance,
      ttlSeconds: this.#options.ttlSeconds,
      calls: this.#runtime.calls,
      runtime: this.#runtime,
      vault: this.#vault,
      news: this.#news,
      report: this.#options.onerror,
      ended: (call) => this.#forget(call),
    };
  }

  #forget(call: RunningCall): void {
    if (this.#running.get(call.id) === call) this.#running.delete(call.id);
    this.#news.tell(call.id);
  }
}

const lost = (why = LOST): ContinuationLost => new ContinuationLost(why);
