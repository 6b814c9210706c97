/** Sends altered retries, one after another, each in place of an honest one. */
import type { Reading } from '../observations/effects.ts';
import type { Retry, Session } from '../session/session.ts';
import { ProbeFailed } from '../target/probe.ts';
import { comparable, describeOutcome, type ReplyOutcome } from '../wire/outcome.ts';
import { abstain, type Finding, fail, notGiven, pass } from './check.ts';
import type { CheckContext, Judgement } from './context.ts';

/** One altered retry, to be sent in place of the honest one. */
export interface Attempt {
  /** The alteration, worded to stand in a sentence: `the state with bit 3 of byte 12 flipped`. */
  readonly label: string;
  readonly changes: (session: Session) => Retry;
}

/** An attempt that was sent, and its result. */
export interface Attempted {
  readonly label: string;
  readonly session: Session;
  /** The outcome of the altered retry. */
  readonly outcome: ReplyOutcome;
  /** The outcome of the call, if the server let it go on. */
  readonly end: ReplyOutcome;
  readonly verdict: 'refused' | 'failed' | 'accepted';
  readonly effect: boolean | undefined;
  /** An accepted one ended like the honest call. */
  readonly same: boolean;
  /** The result or the effects of an accepted one differ from those of the honest call. */
  readonly matters: boolean;
  /** The server treats a plain refusal as an answer too. Another check reports that. */
  readonly countsAsAnswer: boolean;
  /** A refused attempt that completed, as after a decline. Only a probe can show that it had no effect. */
  readonly completedLikeDecline: boolean;
}

export const findAccepted = (all: readonly Attempted[]) =>
  all.filter(({ verdict }) => verdict === 'accepted');

/** Tells refused attempts from accepted ones, where the outcome alone does not. */
export interface AttackOptions {
  /** The attack itself is nonsense state, so its outcome does not count as a refusal. */
  readonly nonsenseIsTried?: boolean;
  /** An outcome that a plain decline also has counts as a refusal, even if an accept has it too. */
  readonly declinedIsRefused?: boolean;
}

/** The limit in one round. */
const MAX_ATTEMPTS = 256;

/** The limit when each attempt needs a call of its own, because the server ends a call at the first bad retry. */
const MAX_FRESH = 48;

/**
 * Sends each attempt in `round`. Stops at the first that matters, because that is the smallest case.
 * Refused attempts share one call, as an attacker's would. An honest retry in that call comes last. If the server
 * refuses it too, the refusals prove nothing, and each attempt gets a call of its own.
 */
export async function attack(
  context: CheckContext,
  round: number,
  attempts: readonly Attempt[],
  how: AttackOptions = {},
): Promise<readonly Attempted[]> {
  const tried = attempts.slice(0, MAX_ATTEMPTS);
  const { all, held } = await presentAttempts(context, round, tried, how);
  if (held === undefined || tried.length < 2 || all.some(({ matters }) => matters)) return all;
  const honest = await held.fork().retry();
  if (context.judge(round, honest) !== 'refused') return all;
  return (await presentAttempts(context, round, tried.slice(0, MAX_FRESH), how, true)).all;
}

/** Sends attempts in one call for as long as it stays open, or each in a call of its own. `held`: the call that is still open. */
async function presentAttempts(
  context: CheckContext,
  round: number,
  attempts: readonly Attempt[],
  how: AttackOptions,
  isFresh = false,
) {
  const all: Attempted[] = [];
  let held: Session | undefined;
  for (const attempt of attempts) {
    const call = held ?? (await context.untilRound(round));
    const one = await presentAttempt(context, round, call.fork(), attempt, how);
    all.push(one);
    const isRefused = one.verdict === 'refused';
    held = isRefused && !isFresh && one.session.last === one.outcome ? call : undefined;
    if (isRefused) continue;
    if (one.matters) break;
    await context.fleet.revive();
    // Each further attempt would take as long, and one finding is enough.
    if (one.outcome.kind === 'failed' && one.outcome.late) break;
  }
  return { all, held };
}

async function presentAttempt(
  context: CheckContext,
  round: number,
  session: Session,
  { label, changes }: Attempt,
  how: AttackOptions,
): Promise<Attempted> {
  const before = await context.effects.read();
  const outcome = await session.retry(changes(session));
  session.decisive = session.turns.at(-1);
  const retry = await judgeRetry(context, round, session, before, how);
  const { judged, countsAsAnswer = false } = retry;
  // effect.before-answer reports the effect of a question that is asked again.
  const isAskedAgain = judged === 'refused' && outcome.kind === 'asked' && context.effects.asking;
  const effect = isAskedAgain ? false : retry.effect;
  const same = judged === 'same';
  const common = { label, session, outcome, end: session.last ?? outcome, effect, same, countsAsAnswer };
  if ((judged === 'refused' || judged === 'failed') && !effect) {
    const completedLikeDecline =
      judged === 'refused' && outcome.kind === 'completed' && !how.declinedIsRefused;
    return { ...common, verdict: judged, matters: false, completedLikeDecline };
  }
  const matters =
    changesAnything(context, outcome, judged, effect) &&
    (effect === true || !(how.nonsenseIsTried && (await context.likeNonsense(round, outcome))));
  return { ...common, verdict: 'accepted', matters, completedLikeDecline: false };
}

/** Judges a retry. If the server asks the next question, finishes the call: a difference may show at its end. */
async function judgeRetry(
  context: CheckContext,
  round: number,
  session: Session,
  before: Reading,
  { declinedIsRefused = false, nonsenseIsTried = false }: AttackOptions,
): Promise<{
  readonly judged: Judgement;
  readonly effect: boolean | undefined;
  readonly countsAsAnswer?: boolean;
}> {
  const outcome = session.last as ReplyOutcome;
  const judged = context.judge(round, outcome);
  if (judged === 'failed') return { judged, effect: await afterFailure(context, session, before) };
  const unclear = outcome.kind === 'completed' && context.facts.final.like(comparable(outcome)) === undefined;
  const end = judged === 'same' ? await session.finish() : outcome;
  const effect = await context.effects.since(before, session);
  if (judged === 'different' || (judged === 'same' && (declinedIsRefused || unclear))) {
    const plain = await context.asRefused(round, outcome, end);
    // A plain refusal has the effect too. The checks of refusals report that.
    const found = declinedIsRefused && plain?.effect === true;
    if (plain)
      return {
        judged: 'refused',
        effect: found ? false : effect,
        countsAsAnswer: found && judged === 'same',
      };
    const refused =
      judged === 'different' && !nonsenseIsTried && (await context.likeNonsense(round, outcome));
    if (refused) return { judged: 'refused', effect };
  }
  const different = end.kind === 'completed' && context.facts.final.like(comparable(end)) === false;
  return { judged: judged === 'same' && different ? 'different' : judged, effect };
}

/** The effect of a retry that failed. If the server crashed, its probe may be gone too, and the run goes on. */
async function afterFailure({ effects }: CheckContext, session: Session, before: Reading) {
  try {
    return await effects.since(before, session);
  } catch (error) {
    if (!(error instanceof ProbeFailed)) throw error;
    await session.instance.ending();
    return undefined;
  }
}

/** Whether an outcome differs from the honest one in a way that matters. A result without the effect does not. */
function changesAnything(
  { effects }: CheckContext,
  outcome: ReplyOutcome,
  judged: Judgement,
  effect: boolean | undefined,
) {
  if (judged === 'different')
    return !(effects.mode === 'observed' && effect === false && outcome.kind === 'completed');
  return judged !== 'same' && effect === true;
}

/** The finding for an outcome without an error whose effects cannot be seen. Undefined if they can. */
export function effectsUnseen({ effects }: CheckContext, words: string): Finding | undefined {
  if (effects.mode === 'blind') return abstain(`${words}, and ${effects.reason}`);
  if (effects.mode !== 'unobserved') return undefined;
  return notGiven(`--probe was not given: ${words}, and its effects cannot be seen`);
}

function refusedWords(all: readonly Attempted[], { effects }: CheckContext, refusal: Session | undefined) {
  const words = refusal?.last ? `, with ${describeOutcome(refusal.last)}` : '';
  const why = effects.mode === 'blind' ? effects.reason : 'without --probe effects were not seen';
  const isSeen = effects.mode === 'observed' || effects.mode === 'none';
  const seen = isSeen ? '' : ` (by its words; ${why})`;
  return `${all.length} of ${all.length} refused${words}${seen}`;
}

/** The finding of attacks that the server has to refuse. */
export function judgeRejections(context: CheckContext, what: string, all: readonly Attempted[]): Finding {
  const accepted = findAccepted(all);
  const worst = accepted.find(({ matters }) => matters) ?? accepted[0];
  if (worst) {
    const { label, session, end, matters } = worst;
    const effect = worst.effect ? ', and the probe changed' : '';
    const others = accepted.length > 1 ? ` ${accepted.length} of ${all.length} were accepted.` : '';
    const harmless = worst.same
      ? ' The result is that of an honest call.'
      : worst.effect === false
        ? ' It had no effect.'
        : ' No effect of it was seen.';
    return fail(
      `${what} (${label}) was accepted: ${describeOutcome(end)}${effect}.${matters ? '' : harmless}${others}`,
      session,
      { matters },
    );
  }
  const failed = all.find(({ verdict }) => verdict === 'failed');
  if (failed) return abstain(`${failed.label} got no answer: ${describeOutcome(failed.outcome)}`);
  const unclear = all.findLast(({ completedLikeDecline }) => completedLikeDecline);
  const unseen = unclear && effectsUnseen(context, `it ${describeOutcome(unclear.end)}, as where it refuses`);
  if (unseen) return unseen;
  if (all.length === 0) return abstain('nothing was tried');
  const refusal = all.at(-1)?.session;
  return pass(refusedWords(all, context, refusal), refusal);
}
