/** The context of a check: facts from the honest calls, new calls, effects, and judgement. */
import { setTimeout as pause } from 'node:timers/promises';
import { asText } from '@mrtr/harness/transcript';
import { createAnswerer } from '../answers/answerer.ts';
import type { OtherCall } from '../answers/other-arguments.ts';
import { isYesOrNo, noTo } from '../observations/consents.ts';
import { Effects } from '../observations/effects.ts';
import { Facts } from '../observations/facts.ts';
import { fieldsOf } from '../observations/forms.ts';
import type { Served } from '../run/limit.ts';
import { Likeness } from '../session/likeness.ts';
import { Session, type SessionOptions, type Turn, Undecided } from '../session/session.ts';
import { createProbe } from '../target/probe.ts';
import { type CompleteInputs, nameOf, type Operation } from '../target/target.ts';
import { createVariation } from '../target/variation.ts';
import { canonical, type JsonObject, membersIn, objectAt } from '../wire/json.ts';
import {
  type Asked,
  type AskedOutcome,
  comparable,
  comparableQuestions,
  openingOf,
  type ReplyOutcome,
  saysNo,
} from '../wire/outcome.ts';

type Judgement = 'rejected' | 'same' | 'different' | 'failed';

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

const formsIn = (requests: Asked) =>
  Object.values(requests).map((one) => canonical(objectAt(one, 'params').requestedSchema ?? one));
const textsIn = (requests: Asked) => Object.values(requests).map(canonical);

const isSubset = (some: readonly string[], all: readonly string[]) => some.every((one) => all.includes(one));

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

export type CheckContext = ReturnType<typeof createContext>;

export function createContext(inputs: CompleteInputs, { fleet, limit }: Served) {
  const { operation, vary, oneTime } = inputs;
  const facts = new Facts();
  const effects = new Effects(inputs.probe && createProbe(inputs.probe, fleet, limit));
  const entries = new Map<string, JsonObject>();
  const known = new Map<string, unknown>();
  let room = MAX_KEPT;
  const schemaOf = (one: Operation) =>
    one.kind === 'tool' ? entries.get(nameOf(one))?.inputSchema : undefined;
  const variation =
    vary === undefined ? undefined : createVariation(operation.arguments, vary, () => schemaOf(operation));

  const calling = {
    instance: fleet.first,
    operation,
    answerer: createAnswerer(inputs.answers, inputs.generateAnswers, inputs.seed),
    schemaOf,
    /** @throws Undecided if the replies of the run exceed the memory for them */
    record(turn: Turn, session?: Session) {
      room -= sizeOf(turn);
      if (room < 0) throw new Undecided(SENT_TOO_MUCH);
      context.log.push({ turn, session, during: context.during });
    },
  };

  /** Runs `find` for the first check that needs its result, and keeps the result for the rest of the run. */
  async function once<T>(what: string, find: () => Promise<T>) {
    if (!known.has(what)) known.set(what, await find());
    return known.get(what) as T;
  }

  function session(options: SessionOptions = {}) {
    if (!variation) return new Session(calling, options);
    const { varied = variation.next() } = options;
    const own = variation.apply(options.operation ?? operation, varied);
    return new Session(calling, { ...options, operation: own, varied });
  }

  /** Makes the rest of a call that of another, which differs in nothing else. */
  function move(moved: Session, options: SessionOptions) {
    const other = variation && options.operation && variation.apply(options.operation, moved.varied);
    return Object.assign(moved, options, other && { operation: other });
  }

  /** Answers a new call honestly until it asks the question of `round`, counted from 0. Default: the last. @throws Undecided */
  async function untilRound(round = facts.rounds.length - 1, options: SessionOptions = {}) {
    const begun = session(options);
    const outcome = await begun.finish(round);
    if (outcome.kind === 'asked') return begun;
    const words = `an honest call did not reach question ${round + 1}: ${outcome}`;
    throw new Undecided(words, begun);
  }

  function roundsWithState() {
    const all = facts.rounds.flatMap(({ state }, at) => (state === undefined ? [] : [at]));
    return [...new Set([all[0], all.at(-1)])].filter((at) => at !== undefined);
  }

  /** `stateIsTried`: the state was not that of the call, so a server that asks for more than at first has taken it. */
  function judge(round: number, outcome: ReplyOutcome, stateIsTried = false): Judgement {
    if (outcome.kind === 'failed') return 'failed';
    if (saysNo(outcome)) return 'rejected';
    if (outcome.kind === 'asked') {
      const like = facts.asksLike(round + 1, outcome);
      if (like === true || (like === undefined && asksNext(round, outcome))) return 'same';
      const again = roundAskedAgain(round, outcome);
      if (again > 0 && stateIsTried) return 'same';
      return again >= 0 ? 'rejected' : 'different';
    }
    if (round < facts.rounds.length - 1) return 'different';
    return facts.endsLike(outcome) === false ? 'different' : 'same';
  }

  /** Whether the keys are those of the next round. For servers that word each question anew. */
  function asksNext(round: number, { requests }: AskedOutcome) {
    const next = facts.rounds[round + 1];
    return next !== undefined && Object.keys(next.requests).join() === Object.keys(requests).join();
  }

  /** The first of the rounds so far whose questions these are, or -1. */
  function roundAskedAgain(round: number, outcome: AskedOutcome) {
    const asked = questionsIn(outcome.requests);
    const rounds = facts.rounds.slice(0, round + 1);
    const alike = rounds.findIndex((_, at) => facts.asksLike(at, outcome) === true);
    if (alike >= 0 || asked.length === 0) return alike;
    const known = rounds.findIndex(({ requests }) => isSubset(asked, questionsIn(requests)));
    if (known >= 0 || !facts.newKeys) return known;
    // Under a new key and in other words, the form alone shows that a question is asked again.
    return isSubset(formsIn(outcome.requests), formsIn(facts.requestsIn(round))) ? round : -1;
  }

  /** One name per question: its key, or its text if keys are new in each call. A server may repeat only some. */
  const questionsIn = (requests: Asked) => (facts.newKeys ? textsIn(requests) : Object.keys(requests));

  const withoutKeys = (outcome: ReplyOutcome) =>
    outcome.kind === 'asked' && facts.newKeys ? comparableQuestions(outcome.requests) : comparable(outcome);

  /** Refuses twice, so that the parts that differ between the two, such as a number, do not count. */
  async function refuse(round: number, answer: (honest: JsonObject, request: JsonObject) => JsonObject) {
    const [likeness, opening, ends] = [new Likeness(), new Likeness(), new Likeness()];
    let effect: boolean | undefined;
    for (let time = 0; time < 2; time++) {
      const call = await untilRound(round);
      const before = await effects.read();
      const outcome = await call.retry({ inputResponses: call.mapAnswers(answer) });
      likeness.add(withoutKeys(outcome));
      opening.add(openingOf(outcome));
      if (outcome.kind === 'asked' && judge(round, outcome) === 'same')
        ends.add(comparable(await call.finish()));
      effect ??= await effects.since(before);
    }
    return { likeness, opening, ends, effect };
  }

  /**
   * Whether an outcome reads like the answer to nonsense state in the same request: a server may reject in a plain result,
   * or begin again. Another check finds servers that accept such state.
   */
  async function likeNonsense(round: number, outcome: ReplyOutcome, moved: SessionOptions = {}) {
    const { principal, operation: other } = moved;
    const what = `nonsense of ${round} ${canonical({ principal, operation: other })}`;
    const nonsense = await once(what, async () => {
      const likeness = new Likeness();
      for (const requestState of ['mrtr-check', 'mrtr-check-2']) {
        const call = move(await untilRound(round), moved);
        likeness.add(withoutKeys(await call.retry({ requestState })));
      }
      return likeness;
    });
    if (nonsense.like(withoutKeys(outcome)) !== true) return false;
    return outcome.kind === 'asked' || facts.endsLike(outcome) === false;
  }

  const context = {
    ...calling,
    inputs,
    fleet,
    limit,
    effects,
    facts,
    /** Every request of the run, for checks of the wire. */
    log: [] as Logged[],
    /** The operations of the inputs in the server's lists, by {@link nameOf}. */
    entries,
    /** The id of the check that runs. */
    during: undefined as string | undefined,
    /** Given by the user, or derived from the input schema. */
    otherArguments: undefined as JsonObject | undefined,
    /** Calls of the second operation, in the order in which they are tried. */
    otherCalls: [] as readonly OtherCall[],
    /** The reason why the new version cannot be called. */
    nextUnready: undefined as string | undefined,
    /** Rejections that took long to provoke. Other checks compare them. */
    rejections: [] as Rejected[],
    once,
    session,
    move,
    untilRound,
    judge,
    likeNonsense,

    async pause(ms: number) {
      await pause(ms, undefined, { signal: limit.over });
    },

    get lastRound() {
      return facts.rounds.length - 1;
    },

    get roundsWithState() {
      return roundsWithState();
    },

    get lastRoundWithState() {
      return roundsWithState().at(-1) ?? 0;
    },

    /**
     * Whether one approval allows one effect: the user declared it, or the tool sends state and is annotated as not
     * idempotent. The clause on single use is about state, so it does not cover a tool that sends no state.
     */
    get oneTime() {
      const { idempotentHint } = objectAt(entries.get(nameOf(operation)), 'annotations');
      return oneTime || (facts.carriesState && idempotentHint === false);
    },

    /** The operation with the other arguments. */
    get otherOperation(): Operation {
      const { otherArguments = {} } = context;
      return operation.kind === 'resource' && typeof otherArguments.uri === 'string'
        ? { ...operation, name: otherArguments.uri, arguments: {} }
        : { ...operation, arguments: otherArguments };
    },

    /**
     * Runs `act` and reads whether it had an effect since `before`: undefined if the probe cannot show it. Ignores the effect of a question:
     * effect.before-answer reports that.
     */
    async measure(call: Session, act: () => Promise<ReplyOutcome>) {
      const before = await effects.read();
      const outcome = await act();
      const effect = await effects.since(before, call);
      return { outcome, before, effect: outcome.kind === 'asked' && effects.asking ? false : effect };
    },

    /** Whether a call ended with the text of an honest one, as far as honest ones are alike. */
    endsAsHonest: (end: ReplyOutcome | undefined) =>
      end?.kind === 'completed' && facts.endsLike(end) === true,

    /** The plain refusal of that round that has the same outcome and the same end, if there is one. */
    async asRefused(round: number, outcome: ReplyOutcome, end = outcome) {
      const refusals = await once(`refusals of ${round}`, async () => {
        const fields = Object.values(facts.requestsIn(round)).flatMap(fieldsOf);
        const ways = [
          () => ({ action: 'decline' }),
          () => ({ action: 'cancel' }),
          ...(fields.some(isYesOrNo) ? [noTo] : []),
        ];
        const all: Awaited<ReturnType<typeof refuse>>[] = [];
        for (const answer of ways) all.push(await refuse(round, answer));
        return all;
      });
      const text = openingOf(outcome);
      const opensAsHonest = text === '' || facts.finalOpening.like(text) !== false;
      return refusals.find(
        ({ likeness, opening, ends }) =>
          (likeness.like(withoutKeys(outcome)) === true || (!opensAsHonest && opening.like(text) === true)) &&
          (end === outcome || ends.like(comparable(end)) !== false),
      );
    },

    /** Whether a server took no state: it asks what a first request asks, or answers as to nonsense. Default: the honest call's. */
    async beginsAgain(
      round: number,
      outcome: ReplyOutcome,
      call: { first?: Asked; options?: SessionOptions } = {},
    ) {
      const { first = facts.requestsIn(0), options } = call;
      // Compare the keys only if no two questions of a call have the same.
      const namesIn = facts.keysRepeat ? textsIn : questionsIn;
      const isFirst = outcome.kind === 'asked' && isSubset(namesIn(outcome.requests), namesIn(first));
      return isFirst || likeNonsense(round, outcome, options);
    },
  };
  return context;
}
