/** Presents altered retries, one after another, each in place of an honest one. */
import type { Reading } from '../observations/effects.ts';
import type { Retry, Session } from '../session/session.ts';
import { ProbeFailed } from '../target/probe.ts';
import { comparable, describeOutcome, type Outcome } from '../wire/outcome.ts';
import { abstain, type Finding, fail, notGiven, pass } from './check.ts';
import type { CheckContext, Judgement } from './context.ts';
import { Undecided } from './undecided.ts';

export function abstainFor(error: unknown): Finding {
  if (error instanceof Undecided) return abstain(error.message, error.session);
  throw error;
}

export interface Attempt {
  /** What is altered, as it stands in a sentence: `the state with bit 3 of byte 12 flipped`. */
  readonly label: string;
  readonly changes: (session: Session) => Retry;
}

export interface Accepted {
  readonly label: string;
  readonly session: Session;
  readonly outcome: Outcome;
  readonly effect: boolean | undefined;
  readonly same: boolean;
  /** It changed the result or the effects, against the honest call. */
  readonly matters: boolean;
}

export interface Attacked {
  readonly tried: number;
  readonly accepted: readonly Accepted[];
  readonly failed: readonly { readonly label: string; readonly session: Session; readonly reason: string }[];
  readonly refusal: Session | undefined;
  /** One that completed as after a decline: whether that has an effect is for a probe to tell. */
  readonly likeDeclined: Session | undefined;
  /** One of them counted as an answer, and so does a plain refusal. */
  readonly asPlain: boolean;
}

export interface AttackOptions {
  /** What comes of a state that means nothing is no refusal: it is what is tried. */
  readonly nonsenseIsTried?: boolean;
  /** What comes of a plain decline as well is a refusal, even where it is what an accept leads to. */
  readonly declinedIsRefused?: boolean;
}

const MAX_ATTEMPTS = 256;
/** So many attempts get a call of their own, where a server gives a call up at the first bad one. */
const MAX_FRESH = 48;

/**
 * Presents each attempt in `round`. It stops at the first that matters, as that is the smallest case that shows it.
 * While the server refuses, one call serves for several attempts, as it does for an attacker. Its honest retry comes
 * last: where that is refused too, the refusals say nothing about the attempts, and each gets a call of its own.
 */
export async function attack(
  context: CheckContext,
  round: number,
  attempts: readonly Attempt[],
  how: AttackOptions = {},
): Promise<Attacked> {
  const tried = attempts.slice(0, MAX_ATTEMPTS);
  const shared = await presentAttempts(context, round, tried, { ...how, fresh: false });
  const { held, accepted } = shared;
  if (held === undefined || tried.length < 2 || accepted.some(({ matters }) => matters)) return shared;
  const honest = await held.fork().retry();
  if (context.judge(round, honest) !== 'refused') return shared;
  return presentAttempts(context, round, tried.slice(0, MAX_FRESH), { ...how, fresh: true });
}

interface Presenting extends AttackOptions {
  readonly fresh: boolean;
}

async function presentAttempts(
  context: CheckContext,
  round: number,
  attempts: readonly Attempt[],
  how: Presenting,
): Promise<Attacked & { readonly held: Session | undefined }> {
  const { declinedIsRefused = false, fresh } = how;
  const accepted: Accepted[] = [];
  const failed: { label: string; session: Session; reason: string }[] = [];
  const kept: { refusal?: Session; likeDeclined?: Session; asPlain?: boolean } = {};
  let held: Session | undefined;
  let tried = 0;
  for (const { label, changes } of attempts) {
    held ??= await context.untilRound(round);
    const before = await context.effects.read();
    const session = held.fork();
    const outcome = await session.retry(changes(session));
    session.decisive = session.turns.at(-1);
    tried++;
    const { judged, effect: seen, asPlain } = await judgeRetry(context, round, session, { ...how, before });
    if (asPlain) kept.asPlain = true;
    // The effect of a question that is asked again is what effect.before-answer finds.
    const effect = judged === 'refused' && outcome.kind === 'asked' && context.effects.asking ? false : seen;
    // A call that was followed to its end is over.
    if (judged !== 'refused' || fresh || session.last !== outcome) held = undefined;
    if (judged === 'refused' && !effect) {
      kept.refusal = session;
      if (outcome.kind === 'completed' && !declinedIsRefused) kept.likeDeclined = session;
      continue;
    }
    if (judged === 'failed' && !effect) failed.push({ label, session, reason: describeOutcome(outcome) });
    else {
      const matters =
        changesAnything(context, outcome, judged, effect) &&
        (effect === true || !(how.nonsenseIsTried && (await context.likeNonsense(round, outcome))));
      const end = session.last ?? outcome;
      accepted.push({ label, session, outcome: end, effect, same: judged === 'same', matters });
      if (matters) break;
    }
    await context.fleet.revive();
    // Each further one would take as long, and one is enough to tell.
    if (outcome.kind === 'failed' && outcome.late) break;
  }
  const { refusal, likeDeclined, asPlain = false } = kept;
  return { tried, accepted, failed, refusal, likeDeclined, asPlain, held };
}

/** Judges a retry. One that went on to the next question is followed to its end, where a difference may show. */
async function judgeRetry(
  context: CheckContext,
  round: number,
  session: Session,
  {
    before,
    declinedIsRefused = false,
    nonsenseIsTried = false,
  }: AttackOptions & { readonly before: Reading },
): Promise<{ readonly judged: Judgement; readonly effect: boolean | undefined; readonly asPlain?: boolean }> {
  const outcome = session.last as Outcome;
  const judged = context.judge(round, outcome);
  if (judged === 'failed') return { judged, effect: await afterFailure(context, session, before) };
  const unclear = outcome.kind === 'completed' && context.facts.final.like(comparable(outcome)) === undefined;
  const end = judged === 'same' ? await session.finish() : outcome;
  const effect = await context.effects.since(before, session);
  if (judged === 'different' || (judged === 'same' && (declinedIsRefused || unclear))) {
    const plain = await context.asRefused(round, outcome, end);
    // An effect that a plain refusal has as well is that refusal's fault, and found there.
    const found = declinedIsRefused && plain?.effect === true;
    if (plain)
      return { judged: 'refused', effect: found ? false : effect, asPlain: found && judged === 'same' };
    const refused =
      judged === 'different' && !nonsenseIsTried && (await context.likeNonsense(round, outcome));
    if (refused) return { judged: 'refused', effect };
  }
  const different = end.kind === 'completed' && context.facts.final.like(comparable(end)) === false;
  return { judged: judged === 'same' && different ? 'different' : judged, effect };
}

/** A server that broke on a retry may have taken its probe with it: that is the finding, and no reason to stop. */
async function afterFailure(
  { effects }: CheckContext,
  session: Session,
  before: Reading,
): Promise<boolean | undefined> {
  try {
    return await effects.since(before, session);
  } catch (error) {
    if (!(error instanceof ProbeFailed)) throw error;
    await session.instance.ending();
    return undefined;
  }
}

/** An answer without an error and without the effect that an honest one has is no acceptance that matters. */
function changesAnything(
  { effects }: CheckContext,
  outcome: Outcome,
  judged: Judgement,
  effect: boolean | undefined,
): boolean {
  if (judged === 'different')
    return !(effects.mode === 'observed' && effect === false && outcome.kind === 'completed');
  return judged !== 'same' && effect === true;
}

/** The finding where an answer is no error, and nobody sees whether it had an effect; undefined where that is seen. */
export function effectsUnseen({ effects }: CheckContext, words: string): Finding | undefined {
  if (effects.mode === 'blind') return abstain(`${words}, and ${effects.reason}`);
  if (effects.mode !== 'unobserved') return undefined;
  return notGiven(`--probe was not given: ${words}, and nobody sees its effects`);
}

function refusedWords({ tried, refusal }: Attacked, { effects }: CheckContext): string {
  const words = refusal?.last ? `, with ${describeOutcome(refusal.last)}` : '';
  const why = effects.mode === 'blind' ? effects.reason : 'without --probe effects were not seen';
  const isSeen = effects.mode === 'observed' || effects.mode === 'none';
  const seen = isSeen ? '' : ` (by its words; ${why})`;
  return `${tried} of ${tried} refused${words}${seen}`;
}

export function mustRefuse(context: CheckContext, what: string, attacked: readonly Attacked[]): Finding {
  const accepted = attacked.flatMap((one) => one.accepted);
  const tried = attacked.reduce((sum, one) => sum + one.tried, 0);
  const failed = attacked.flatMap((one) => one.failed);
  const worst = accepted.find(({ matters }) => matters) ?? accepted[0];
  if (worst) {
    const effect = worst.effect ? ', and the probe changed' : '';
    const others = accepted.length > 1 ? ` ${accepted.length} of ${tried} were accepted.` : '';
    const harmless = worst.same
      ? ' The result is that of an honest call.'
      : worst.effect === false
        ? ' It had no effect.'
        : ' No effect of it was seen.';
    return fail(
      `${what} (${worst.label}) was accepted: ${describeOutcome(worst.outcome)}${effect}.${worst.matters ? '' : harmless}${others}`,
      worst.session,
      { matters: worst.matters },
    );
  }
  const [first] = failed;
  if (first) return abstain(`${first.label} got no answer: ${first.reason}`);
  const unclear = attacked.find((each) => each.likeDeclined)?.likeDeclined;
  const unseen =
    unclear?.last && effectsUnseen(context, `it ${describeOutcome(unclear.last)}, as where it refuses`);
  if (unseen) return unseen;
  const [one] = attacked;
  if (one === undefined || tried === 0) return abstain('nothing was tried');
  const refusal = attacked.findLast((each) => each.refusal)?.refusal;
  return pass(refusedWords({ ...one, tried, refusal }, context), refusal);
}
