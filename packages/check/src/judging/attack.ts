/** Sends altered retries, one after another, each in place of an honest one. */
import type { Reading } from '../observations/effects.ts';
import type { Retry, Session } from '../session/session.ts';
import { ProbeFailed } from '../target/probe.ts';
import { openingOf, type ReplyOutcome, saysNo } from '../wire/outcome.ts';
import { abstain, type Finding, notGiven, pass } from './check.ts';
import type { CheckContext } from './context.ts';

/** One altered retry, to be sent in place of the honest one. */
export interface Attempt {
  /** The alteration, worded to stand in a sentence: `the state with bit 3 of byte 12 flipped`. */
  readonly label: string;
  readonly changes: (session: Session) => Retry | Promise<Retry>;
}

/** An attempt that was sent, and its result. */
export interface Attempted {
  readonly label: string;
  readonly session: Session;
  /** The outcome of the altered retry. */
  readonly outcome: ReplyOutcome;
  /** The outcome of the call, if the server let it go on. */
  readonly end: ReplyOutcome;
  readonly became: 'rejected' | 'failed' | 'accepted';
  readonly effect: boolean | undefined;
  /** It ended like the honest call. */
  readonly same: boolean;
  /** It was accepted, and its result or its effects differ from those of the honest call. */
  readonly matters: boolean;
}

/** Tells rejected attempts from accepted ones, where the outcome alone does not. */
export interface AttackOptions {
  /** The attack alters the state, so a server that asks for more than at first has taken it. */
  readonly stateIsTried?: boolean;
  /** The attack itself is nonsense state, so its outcome does not show how the server rejects. */
  readonly nonsenseIsTried?: boolean;
  /** An outcome that a plain decline also has counts as a rejection, even if an accept has it too. */
  readonly declinedIsRejected?: boolean;
  /** If no probe shows effects, a result whose text is of another kind than an honest one counts as a rejection. */
  readonly readsWords?: boolean;
}

/** The limit in one round. */
const MAX_ATTEMPTS = 256;

/** The limit when each attempt needs a call of its own, because the server ends a call at the first bad retry. */
const MAX_FRESH = 48;

export type Attack = ReturnType<typeof startAttack>;

export function startAttack(context: CheckContext, how: AttackOptions = {}) {
  const { effects, facts, instance, fleet } = context;
  const { stateIsTried, nonsenseIsTried, declinedIsRejected, readsWords } = how;
  const attempted: Attempted[] = [];
  let refusalCounts = false;
  const allThat = (became: Attempted['became']) => attempted.filter((one) => one.became === became);
  /** Only the text of the result tells that it was accepted, and it is not that of an honest call. */
  const seems = ({ effect, outcome, same }: Attempted) =>
    readsWords && effect === undefined && outcome.kind === 'completed' && !same;
  const gravity = (one: Attempted) => (seems(one) ? 0 : one.matters ? 2 : 1);
  const acceptedOnes = () => allThat('accepted').toSorted((a, b) => gravity(b) - gravity(a));

  /** Sends attempts in one call for as long as it stays open, or each in a call of its own. `held`: the call that is still open. */
  async function sendEach(round: number, attempts: readonly Attempt[], isFresh = false) {
    const all: Attempted[] = [];
    let held: Session | undefined;
    let before: Reading;
    for (const attempt of attempts) {
      const call = held ?? (await context.untilRound(round));
      if (!held || !leftReading(all.at(-1))) before = await effects.read();
      const one = await sendOne(round, call.fork(), attempt, before);
      all.push(one);
      const isRejected = one.became === 'rejected';
      held = isRejected && !isFresh && one.session.last === one.outcome ? call : undefined;
      if (isRejected) continue;
      if (one.matters && !seems(one)) break;
      await fleet.revive();
      // Each further attempt would take as long, and one finding is enough.
      if (one.outcome.kind === 'failed' && one.outcome.late) break;
    }
    return { all, held };
  }

  async function sendOne(
    round: number,
    session: Session,
    { label, changes }: Attempt,
    before: Reading,
  ): Promise<Attempted> {
    const outcome = await session.retry(await changes(session));
    session.decisive = session.lastTurn;
    const seen = await judge(round, session, outcome, before);
    const { judged } = seen;
    // effect.before-answer reports the effect of a question that is asked again.
    const isAskedAgain = judged === 'rejected' && outcome.kind === 'asked' && effects.asking;
    const effect = isAskedAgain ? false : seen.effect;
    const one = { label, session, outcome, end: session.last ?? outcome, effect, same: judged === 'same' };
    if ((judged === 'rejected' || judged === 'failed') && !effect)
      return { ...one, became: judged, matters: false };
    // A result without the effect, in place of the honest one, harms nobody.
    const isHarmless = effects.mode === 'observed' && effect === false && outcome.kind === 'completed';
    const changed = judged === 'different' && !isHarmless;
    const isNonsense = async () => nonsenseIsTried === true && (await context.likeNonsense(round, outcome));
    const matters = (effect === true && judged !== 'same') || (changed && !(await isNonsense()));
    return { ...one, became: 'accepted', matters };
  }

  /** Judges a retry. If the server asks the next question, finishes the call: a difference may show at its end. */
  async function judge(round: number, session: Session, outcome: ReplyOutcome, before: Reading) {
    const judged = context.judge(round, outcome, stateIsTried);
    if (judged === 'failed') return { judged, effect: await effectOfFailure(session, before) };
    const end = judged === 'same' ? await session.finish() : outcome;
    const effect = await effects.since(before, session);
    if (judged === 'rejected') return { judged, effect };
    const reads = (one: ReplyOutcome) => (one.kind === 'completed' ? facts.endsLike(one) : true);
    if (judged === 'different' || declinedIsRejected || reads(outcome) === undefined) {
      // A plain decline has the outcome too, or nonsense state has.
      const plain = await context.asRefused(round, outcome, end);
      // A plain refusal has the effect too. The checks of refusals report that.
      const counts = declinedIsRejected && plain?.effect === true;
      if (counts && judged === 'same') refusalCounts = true;
      const isNonsense = async () =>
        judged !== 'same' && !nonsenseIsTried && (await context.likeNonsense(round, outcome));
      const isOther = () =>
        readsWords &&
        outcome.kind === 'completed' &&
        judged === 'different' &&
        effects.mode !== 'observed' &&
        !facts.finalOpening.isOfKind(openingOf(outcome));
      if (plain || isOther() || (await isNonsense()))
        return { judged: 'rejected' as const, effect: counts ? false : effect };
    }
    return { judged: reads(end) === false ? 'different' : judged, effect } as const;
  }

  /** The effect of a retry that failed. If the server crashed, its probe may be gone too, and the run goes on. */
  async function effectOfFailure(session: Session, before: Reading) {
    try {
      return await effects.since(before, session);
    } catch (error) {
      if (!(error instanceof ProbeFailed)) throw error;
      await session.instance.ending();
      return undefined;
    }
  }

  return {
    attempted,
    /** The server treats a plain refusal as an answer too. Another check reports that. */
    get refusalCounts() {
      return refusalCounts;
    },
    /** The attempts that the server accepted: the gravest first. */
    get accepted() {
      return acceptedOnes();
    },
    get failed() {
      return allThat('failed');
    },
    get rejected() {
      return allThat('rejected');
    },
    /**
     * Sends each attempt in `round`. Stops at the first that matters, because that is the smallest case.
     * Rejected attempts share one call, as an attacker's would. An honest retry in that call comes last. If the server
     * rejects it too, the rejections prove nothing, and each attempt gets a call of its own.
     */
    async send(round: number, attempts: readonly Attempt[]) {
      const sendFresh = () => sendEach(round, attempts.slice(0, MAX_FRESH), true);
      // On a session, each question is answered once.
      let sent = await (instance.isOld ? sendFresh() : sendEach(round, attempts.slice(0, MAX_ATTEMPTS)));
      const isProved = attempts.length < 2 || sent.all.some(({ matters }) => matters);
      const honest = isProved ? undefined : await sent.held?.fork().retry();
      if (honest && context.judge(round, honest) === 'rejected') sent = await sendFresh();
      attempted.push(...sent.all);
    },
    /** The finding of an attack in which nothing was accepted. */
    get finding(): Finding {
      const [unanswered] = allThat('failed');
      if (unanswered) return abstain(`${unanswered.label} got no answer: ${unanswered.outcome}`);
      // Only a probe can show that an attempt which completed, as after a decline, had no effect.
      const unclear = allThat('rejected').findLast(({ outcome }) => outcome.kind === 'completed');
      if (unclear && !declinedIsRejected) {
        const words = `it ${unclear.end}, which reads as a rejection`;
        const unseen = effectsUnseen(context, words);
        if (unseen) return unseen;
      }
      const last = attempted.at(-1)?.session;
      if (!last) return abstain('nothing was tried');
      const { mode, reason } = effects;
      const why = mode === 'blind' ? reason : 'without --probe effects were not seen';
      const seen = mode === 'observed' || mode === 'none' ? '' : ` (by its words; ${why})`;
      const end = last.last ? `, with ${last.last}` : '';
      return pass(`${attempted.length} of ${attempted.length} rejected${end}${seen}`, last);
    },
    /** The gravest attempt that the server accepted, in a sentence. */
    describe(what: string, one: Attempted) {
      const { label, end, effect, same, matters } = one;
      if (seems(one))
        return `${what} (${label}) seems accepted, which only a probe of the effect can tell: ${end}.`;
      const { length } = acceptedOnes();
      const changed = effect ? ', and the probe changed' : '';
      const others = length > 1 ? ` ${length} of ${attempted.length} were accepted.` : '';
      const unseen = effect === false ? ' It had no effect.' : ' No effect of it was seen.';
      const harmless = matters ? '' : same ? ' The result is that of an honest call.' : unseen;
      return `${what} (${label}) was accepted: ${end}${changed}.${harmless}${others}`;
    },
  };
}

/** Whether the probe reads as before the attempt: an error is judged by its words, so nothing was sent after the reading. */
const leftReading = (one: Attempted | undefined) => one?.effect === false && saysNo(one.outcome);

/** The finding for an outcome without an error whose effects cannot be seen. Undefined if they can. */
export function effectsUnseen({ effects }: CheckContext, words: string): Finding | undefined {
  if (effects.mode === 'blind') return abstain(`${words}, and ${effects.reason}`);
  if (effects.mode !== 'unobserved') return undefined;
  return notGiven(`--probe was not given: ${words}, and its effects cannot be seen`);
}
