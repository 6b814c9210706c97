/** The context of a check: facts from the honest calls, new calls, effects, and judgement. */
import { setTimeout as pause } from 'node:timers/promises';
import { asText } from '@mrtr/harness/transcript';
import { Answerer } from '../answers/answerer.ts';
import type { OtherCall } from '../answers/other-arguments.ts';
import { Effects } from '../observations/effects.ts';
import { Facts } from '../observations/facts.ts';
import { fieldsOf } from '../observations/forms.ts';
import type { Limit, Served } from '../run/limit.ts';
import { Likeness } from '../session/likeness.ts';
import {
  Session,
  type SessionContext,
  type SessionOptions,
  type Turn,
  Undecided,
} from '../session/session.ts';
import type { TestedInstances } from '../target/instance.ts';
import { createProbe } from '../target/probe.ts';
import { type CompleteInputs, nameOf, type Operation } from '../target/target.ts';
import { Variation } from '../target/variation.ts';
import {
  asObject,
  canonical,
  isObject,
  type JsonObject,
  mapMembers,
  membersIn,
  objectAt,
} from '../wire/json.ts';
import {
  type Asked,
  type AskedOutcome,
  comparable,
  comparableQuestions,
  describeOutcome,
  openingOf,
  type ReplyOutcome,
  saysNo,
} from '../wire/outcome.ts';

export type Judgement = 'rejected' | 'same' | 'different' | 'failed';

export interface Logged {
  readonly turn: Turn;
  readonly session?: Session | undefined;
  /** The id of the check that sent the request. Undefined before the first check. */
  readonly during?: string | undefined;
}

/** A rejection, with the thing rejected. */
export interface Rejected {
  readonly label: string;
  readonly session: Session;
  readonly outcome: ReplyOutcome;
}

interface PlainRefusal {
  readonly likeness: Likeness;
  /** How its first text looks. */
  readonly opening: Likeness;
  /** How the call ends, if the server asks the next question despite the refusal and gets honest answers. */
  readonly ends: Likeness;
  readonly effect: boolean | undefined;
}

/** What a first request of a call asks, and the call. */
interface Beginning {
  readonly first?: Asked;
  readonly options?: SessionOptions;
}

const textsIn = (requests: Asked) => Object.values(requests).map(canonical);

const hasYesOrNo = (request: JsonObject) =>
  fieldsOf(request).some((field) => asObject(field).type === 'boolean');

/** The same answer with each yes turned into a no. It refuses, as a decline does. */
export const noTo = ({ content, ...answer }: JsonObject) => ({
  ...answer,
  ...(isObject(content) && { content: mapMembers(content, (value) => value !== true && value) }),
});

/** The memory for all replies, in bytes. The checks of the wire read them at the end. */
const MAX_KEPT = 128 * 1024 * 1024;
const MEMBER_BYTES = 100;
const SENT_TOO_MUCH = `the answers of this run are together larger than ${MAX_KEPT / 1024 / 1024} MiB`;

/** The memory of a turn. Each text is stored twice: as text and as parsed strings. One character beyond Latin-1 doubles its size. */
const sizeOf = ({ request, reply }: Turn) =>
  reply.messages.reduce(
    (sum, { text, value }) => sum + 2 * bytesOf(text) + MEMBER_BYTES * membersIn(value),
    2 * bytesOf(asText(request.params.requestState)),
  );

const bytesOf = (text: string) => (/[^\0-\xff]/.test(text) ? 2 : 1) * text.length;

export class CheckContext implements SessionContext {
  readonly inputs: CompleteInputs;
  readonly fleet: TestedInstances;
  readonly limit: Limit;
  readonly answerer: Answerer;
  readonly effects: Effects;
  readonly facts = new Facts();
  /** Every request of the run, for checks of the wire. */
  readonly log: Logged[] = [];
  /** The operations of the inputs in the server's lists, by {@link nameOf}. */
  readonly entries = new Map<string, JsonObject>();
  /** The id of the check that runs. */
  during: string | undefined;
  /** Given by the user, or derived from the input schema. */
  otherArguments: JsonObject | undefined;
  /** Calls of the second operation, in the order in which they are tried. */
  otherCalls: readonly OtherCall[] = [];
  /** The reason why the new version cannot be called. */
  nextUnready: string | undefined;
  /** Rejections that took long to provoke. Other checks compare them. */
  readonly rejections: Rejected[] = [];
  readonly #known = new Map<string, unknown>();
  readonly #variation: Variation | undefined;
  #room = MAX_KEPT;

  constructor(inputs: CompleteInputs, { fleet, limit }: Served) {
    this.inputs = inputs;
    this.fleet = fleet;
    this.limit = limit;
    const { operation, vary } = inputs;
    if (vary !== undefined) this.#variation = new Variation(operation, vary, () => this.schemaOf(operation));
    this.answerer = new Answerer(inputs.answers, inputs.generateAnswers, inputs.seed);
    this.effects = new Effects(inputs.probe && createProbe(inputs.probe, fleet, limit));
  }

  get instance() {
    return this.fleet.first;
  }

  get operation() {
    return this.inputs.operation;
  }

  schemaOf(one: Operation) {
    return one.kind === 'tool' ? this.entries.get(nameOf(one))?.inputSchema : undefined;
  }

  /** @throws Undecided if the replies of the run exceed the memory for them */
  record(turn: Turn, session?: Session) {
    this.#room -= sizeOf(turn);
    if (this.#room < 0) throw new Undecided(SENT_TOO_MUCH);
    this.log.push({ turn, session, during: this.during });
  }

  /** Runs `find` for the first check that needs its result, and keeps the result for the rest of the run. */
  async once<T>(what: string, find: () => Promise<T>): Promise<T> {
    if (!this.#known.has(what)) this.#known.set(what, await find());
    return this.#known.get(what) as T;
  }

  async pause(ms: number) {
    await pause(ms, undefined, { signal: this.limit.over });
  }

  session(options: SessionOptions = {}): Session {
    const variation = this.#variation;
    if (variation === undefined) return new Session(this, options);
    const varied = variation.next();
    const operation = variation.apply(options.operation ?? this.operation, varied);
    return new Session(this, { ...options, operation, varied });
  }

  /** Makes the rest of a call that of another, which differs in nothing else. */
  move(session: Session, options: SessionOptions) {
    const { operation } = options;
    const moved = operation && this.#variation?.apply(operation, session.varied);
    return Object.assign(session, options, moved && { operation: moved });
  }

  /** Answers a new call honestly until it asks the question of `round`, counted from 0. @throws Undecided */
  async untilRound(round: number, options: SessionOptions = {}): Promise<Session> {
    const session = this.session(options);
    const outcome = await session.finish(round);
    if (outcome.kind !== 'asked')
      throw new Undecided(
        `an honest call did not reach question ${round + 1}: ${describeOutcome(outcome)}`,
        session,
      );
    return session;
  }

  get lastRound() {
    return this.facts.rounds.length - 1;
  }

  get roundsWithState() {
    const all = this.facts.rounds.flatMap(({ state }, at) => (state === undefined ? [] : [at]));
    return [...new Set([all[0], all.at(-1)])].filter((at) => at !== undefined);
  }

  get lastRoundWithState() {
    return this.roundsWithState.at(-1) ?? 0;
  }

  /**
   * Whether one approval allows one effect: the user declared it, or the tool sends state and is annotated as not
   * idempotent. The clause on single use is about state, so it does not cover a tool that sends no state.
   */
  get oneTime() {
    const { idempotentHint } = objectAt(this.entries.get(nameOf(this.operation)), 'annotations');
    return this.inputs.oneTime || (this.facts.carriesState && idempotentHint === false);
  }

  /** The operation with the other arguments. */
  get otherOperation(): Operation {
    const { operation, otherArguments = {} } = this;
    return operation.kind === 'resource' && typeof otherArguments.uri === 'string'
      ? { ...operation, name: otherArguments.uri, arguments: {} }
      : { ...operation, arguments: otherArguments };
  }

  /**
   * Runs `act` and reads whether it had an effect: undefined if the probe cannot show it. Ignores the effect of a question:
   * effect.before-answer reports that.
   */
  async measure(session: Session, act: () => Promise<ReplyOutcome>) {
    const before = await this.effects.read();
    const outcome = await act();
    const effect = await this.effects.since(before, session);
    return { outcome, effect: outcome.kind === 'asked' && this.effects.asking ? false : effect };
  }

  /** `stateIsTried`: the state was not that of the call, so a server that asks for more than at first has taken it. */
  judge(round: number, outcome: ReplyOutcome, stateIsTried = false): Judgement {
    if (outcome.kind === 'failed') return 'failed';
    if (saysNo(outcome)) return 'rejected';
    if (outcome.kind === 'asked') {
      const like = this.facts.asksLike(round + 1, outcome);
      if (like === true || (like === undefined && this.#asksNext(round, outcome))) return 'same';
      const again = this.#roundAskedAgain(round, outcome);
      if (again > 0 && stateIsTried) return 'same';
      return again >= 0 ? 'rejected' : 'different';
    }
    if (round < this.lastRound) return 'different';
    return this.facts.final.like(comparable(outcome)) === false ? 'different' : 'same';
  }

  /** The plain refusal of that round that has the same outcome and the same end, if there is one. */
  async asRefused(round: number, outcome: ReplyOutcome, end = outcome) {
    const known = await this.once(`refusals of ${round}`, async () => {
      const consents = Object.values(this.facts.rounds[round]?.requests ?? {}).some(hasYesOrNo);
      const ways = [() => ({ action: 'decline' }), () => ({ action: 'cancel' }), ...(consents ? [noTo] : [])];
      const all: PlainRefusal[] = [];
      for (const answer of ways) all.push(await this.#refuse(round, answer));
      return all;
    });
    const text = openingOf(outcome);
    const opensAsHonest = text === '' || this.facts.finalOpening.like(text) !== false;
    return known.find(
      ({ likeness, opening, ends }) =>
        (likeness.like(this.#withoutKeys(outcome)) === true ||
          (!opensAsHonest && opening.like(text) === true)) &&
        (end === outcome || ends.like(comparable(end)) !== false),
    );
  }

  /**
   * Whether an outcome reads like the answer to nonsense state in the same request: a server may reject in a plain result,
   * or begin again. Another check finds servers that accept such state.
   */
  async likeNonsense(round: number, outcome: ReplyOutcome, moved: SessionOptions = {}) {
    const { principal, operation } = moved;
    const known = await this.once(`nonsense of ${round} ${canonical({ principal, operation })}`, async () => {
      const likeness = new Likeness();
      for (const requestState of ['mrtr-check', 'mrtr-check-2']) {
        const session = this.move(await this.untilRound(round), moved);
        likeness.add(this.#withoutKeys(await session.retry({ requestState })));
      }
      return likeness;
    });
    if (known.like(this.#withoutKeys(outcome)) !== true) return false;
    return outcome.kind === 'asked' || this.facts.final.like(comparable(outcome)) === false;
  }

  /** Refuses twice, so that the parts that differ between the two, such as a number, do not count. */
  async #refuse(round: number, answer: (honest: JsonObject) => JsonObject) {
    const [likeness, opening, ends] = [new Likeness(), new Likeness(), new Likeness()];
    let effect: boolean | undefined;
    for (let time = 0; time < 2; time++) {
      const session = await this.untilRound(round);
      const before = await this.effects.read();
      const outcome = await session.retry({ inputResponses: session.mapAnswers(answer) });
      likeness.add(this.#withoutKeys(outcome));
      opening.add(openingOf(outcome));
      if (outcome.kind === 'asked' && this.judge(round, outcome) === 'same')
        ends.add(comparable(await session.finish()));
      effect ??= await this.effects.since(before);
    }
    return { likeness, opening, ends, effect };
  }

  #withoutKeys(outcome: ReplyOutcome) {
    return outcome.kind === 'asked' && this.facts.newKeys
      ? comparableQuestions(outcome.requests)
      : comparable(outcome);
  }

  /** Whether the keys are those of the next round. For servers that word each question anew. */
  #asksNext(round: number, outcome: AskedOutcome) {
    const next = this.facts.rounds[round + 1];
    return next !== undefined && Object.keys(next.requests).join() === Object.keys(outcome.requests).join();
  }

  /** The first of the rounds so far whose questions these are, or -1. */
  #roundAskedAgain(round: number, outcome: AskedOutcome) {
    const asked = this.#questionsIn(outcome.requests);
    const rounds = this.facts.rounds.slice(0, round + 1);
    const alike = rounds.findIndex((_, at) => this.facts.asksLike(at, outcome) === true);
    if (alike >= 0 || asked.length === 0) return alike;
    return rounds.findIndex(({ requests }) => {
      const before = this.#questionsIn(requests);
      return asked.every((one) => before.includes(one));
    });
  }

  /** Whether a server took no state: it asks what a first request asks, or answers as to nonsense. Default: the honest call's. */
  async beginsAgain(
    round: number,
    outcome: ReplyOutcome,
    { first = this.facts.rounds[0]?.requests ?? {}, options = {} }: Beginning = {},
  ) {
    const isFirst = outcome.kind === 'asked' && this.#asksFrom(first, outcome);
    return isFirst || this.likeNonsense(round, outcome, options);
  }

  /** Whether every question is one of these, by its key if no two questions of a call have the same. */
  #asksFrom(known: Asked, { requests }: AskedOutcome) {
    const namesIn = this.facts.keysRepeat ? textsIn : (asked: Asked) => this.#questionsIn(asked);
    const before = namesIn(known);
    return namesIn(requests).every((one) => before.includes(one));
  }

  /** One name per question: its key, or its text if keys are new in each call. A server may repeat only some. */
  #questionsIn(requests: Asked) {
    return this.facts.newKeys ? textsIn(requests) : Object.keys(requests);
  }
}
