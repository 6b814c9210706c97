/** State is attacker-controlled input: forged, tampered, malformed, or in another spelling. */

import {
  type Attack,
  type AttackOptions,
  type Attempt,
  type Attempted,
  startAttack,
} from '../../judging/attack.ts';
import { advise, cite, defineCheck, fail, notApplicable, pass } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { noTo } from '../../observations/consents.ts';
import { choicesIn, fieldsOf } from '../../observations/forms.ts';
import { inWorker } from '../../sandbox.ts';
import type { Session } from '../../session/session.ts';
import type { Pair, Variant } from '../../tokens/forge.ts';
import { HUGE, malform } from '../../tokens/mutate.ts';
import { objectAt } from '../../wire/json.ts';
import { everyAnswer } from '../answer.ts';

const REQUIREMENT = {
  clause: cite(
    'basic/patterns/mrtr, server requirements 4',
    'Servers MUST treat requestState as an attacker-controlled input. If requestState influences authorization, ' +
      'resource access, or business logic, servers MUST protect its integrity (e.g. HMAC or AEAD) and MUST reject ' +
      'state that fails verification. Integrity protection MAY be omitted only when tampering can cause nothing worse ' +
      'than request failure.',
  ),
  remedy:
    'Sign or seal the state (HMAC or AEAD) and verify it before anything in it is used. In TypeScript: ' +
    'createRequestStateCodec of the SDK signs; @mrtr/core seals every state that its shapes send.',
  needs: ['state'],
} as const;

const DEMAND =
  'It verifies a signature where there is one. Reject a state that brings none, and fix the algorithm in the code: the ' +
  'state may not choose it.';

type Variants = (token: string) => readonly Variant<unknown>[] | Promise<readonly Variant<unknown>[]>;

/** Sends every variant of the state in each round, with `changes` to the answers. */
async function sendVariants(
  context: CheckContext,
  attack: Attack,
  variants: Variants,
  rounds = context.roundsWithState,
  changes: Attempt['changes'] = () => ({}),
) {
  for (const round of rounds) {
    const { state = '' } = await context.untilRound(round);
    const attempts = (await variants(state)).map(({ label }, at) => ({
      label,
      // Each call has its own state, so make the variant from that.
      changes: async (session: Session) => ({
        ...(await changes(session)),
        requestState: ((await variants(session.state ?? state))[at] ?? (await variants(state))[at])?.token,
      }),
    }));
    await attack.send(round, attempts);
  }
}

async function attackWith(context: CheckContext, variants: Variants, how?: AttackOptions) {
  const attack = startAttack(context, { stateIsTried: true, ...how });
  await sendVariants(context, attack, variants);
  return attack;
}

/** A MUST where an accepted state changed the result or had an effect. Advice where it came to nothing. */
function judgeState(what: string, attack: Attack, remedy?: string) {
  const [worst] = attack.accepted;
  if (worst === undefined) return attack.finding;
  return (worst.matters ? fail : advise)(attack.describe(what, worst), worst.session, { remedy });
}

/** Whether the server accepts altered state, and none that was tried made a difference. */
const isHarmlessSoFar = ({ accepted }: Attack) => accepted[0]?.matters === false;

/** Strings that the server may know. They forge better than noise. */
function knownWords({ facts, otherArguments }: CheckContext) {
  const choices = facts.questions.flatMap(({ request }) => fieldsOf(request).flatMap(choicesIn));
  const known = [...Object.values(otherArguments ?? {}), ...choices].filter((one) => typeof one === 'string');
  return [...new Set([...known, ...facts.questions.map(({ key }) => key), 'approved'])];
}

async function statesOfTwo(context: CheckContext): Promise<readonly Pair[]> {
  const { questions } = await context.untilRound();
  return context.facts.rounds.map(({ state }, round) => [state, questions[round]?.state]);
}

const UNKNOWN_VALUE =
  ' That is a value of the call or of its answers, and the probe does not say for which value the effect was. If the ' +
  'server does not use its copy, take it out of the state.';

/** Whether the forged value was an argument or an answer of the call: a count does not show that another invoice was paid. */
function isValueOfCall(context: CheckContext, { label, session }: Attempted) {
  const answers = Object.values(everyAnswer(context, session));
  const contents = answers.flatMap((one) => Object.values(objectAt(one, 'content')));
  const values = [...Object.values(session.operation.arguments), ...contents];
  return values.some((one) => {
    const [, after] = label.split(`in place of ${JSON.stringify(one)}`);
    return typeof one !== 'boolean' && after !== undefined && !/^[\d.]/.test(after);
  });
}

const WITHHELD: readonly Attempt[] = [
  { label: 'no answers', changes: () => ({ inputResponses: undefined }) },
  { label: 'a no for an answer', changes: (session) => ({ inputResponses: session.mapAnswers(noTo) }) },
  { label: 'a decline', changes: (session) => ({ inputResponses: session.refusals('decline') }) },
];

/** The state is unprotected, but forgeries with honest answers made no difference. Tries them without consent. */
async function attackWithoutConsent(context: CheckContext, variants: Variants) {
  const attack = startAttack(context);
  for (const round of context.roundsWithState) {
    const withheld = await findWhatStops(context, round);
    if (withheld === undefined) continue;
    const labelVariants = async (token: string) =>
      (await variants(token)).map((one) => ({ ...one, label: `${one.label}, and ${withheld.label}` }));
    await sendVariants(context, attack, labelVariants, [round], withheld.changes);
  }
  return attack;
}

/** Finds a missing or negative answer that stops a call with unchanged state. Other checks report if none does. */
async function findWhatStops(context: CheckContext, round: number) {
  for (const withheld of WITHHELD) {
    const session = await context.untilRound(round);
    const outcome = await session.retry(await withheld.changes(session));
    const judged = context.judge(round, outcome);
    if (judged === 'rejected') return withheld;
    if (judged !== 'different' || outcome.kind !== 'completed') continue;
    const plain = await context.asRefused(round, outcome);
    if (plain && !plain.effect) return withheld;
  }
  return undefined;
}

/** The number of positions to try if the state is unprotected. */
const MAX_FLIPS = 96;

/** Whether the server closed the connection of a request that is too long, which it may. */
const isCutOff = ({ fleet }: CheckContext, { label, outcome }: Attempted) =>
  label === HUGE && fleet.first.kind === 'http' && outcome.kind === 'failed' && !outcome.late;

/** Sends a used approval in other spellings. If its own has a second effect, checks of single use report it. */
async function findReuse(context: CheckContext) {
  const session = await context.untilRound(context.lastRoundWithState);
  const used = session.honestRetry();
  const { state = '' } = session;
  const end = await session.finish();
  if (end.kind !== 'completed') return undefined;
  for (const { label, token } of [
    { label: 'its own', token: state },
    ...(await inWorker('aliases', state)),
  ]) {
    const again = session.fork();
    const { effect } = await context.measure(again, async () => {
      await again.retry({ ...used, requestState: token });
      return again.finish();
    });
    if (!effect) continue;
    if (token === state) return undefined;
    const words = `A used approval worked again in another spelling (${label}), with a second effect.`;
    return (context.oneTime ? fail : advise)(words, again);
  }
  return undefined;
}

export const INTEGRITY = [
  defineCheck('state.forged', 'M', {
    expected:
      'A state whose content was changed and encoded again is rejected, with its signature or without it.',
    ...REQUIREMENT,
    calls: (rounds) => 110 * Math.min(rounds, 2) + 4 * rounds + 12,
    run: async (context) => {
      const words = knownWords(context);
      const seen = await statesOfTwo(context);
      const variants = (token: string) => inWorker('forgeries', token, words, seen);
      const attack = await attackWith(context, variants);
      if (attack.attempted.length === 0)
        return notApplicable('the state cannot be read from outside, so nothing in it can be forged');
      const isStripped = /signature|alg "none"/.test(attack.accepted[0]?.label ?? '');
      const remedy = isStripped && attack.rejected.length > 0 ? DEMAND : undefined;
      if (!isHarmlessSoFar(attack)) return judgeState('A forged state', attack, remedy);
      const ofCall = attack.accepted.find((one) => one.effect && isValueOfCall(context, one));
      if (ofCall) return fail(attack.describe('A forged state', ofCall) + UNKNOWN_VALUE, ofCall.session);
      const unasked = await attackWithoutConsent(context, variants);
      const [worst] = unasked.accepted;
      if (worst === undefined) return judgeState('A forged state', attack, remedy);
      const said = unasked.describe('A forged state', { ...worst, matters: true });
      return fail(said, worst.session, { remedy });
    },
  }),
  /** Flips bits in every region: a signature may cover only a part. */
  defineCheck('state.tampered', 'M', {
    expected: 'A state with one bit flipped is rejected, wherever the bit is.',
    ...REQUIREMENT,
    calls: (rounds) => 185 * Math.min(rounds, 2),
    run: async (context) => {
      const attack = await attackWith(context, (token) => inWorker('bitFlips', token));
      // The state is unprotected, so look for a bit that matters.
      if (isHarmlessSoFar(attack))
        await sendVariants(context, attack, (token) => inWorker('bitFlips', token, MAX_FLIPS));
      return judgeState('A tampered state', attack);
    },
  }),
  defineCheck('state.malformed', 'M', {
    expected:
      'Malformed state (cut, extended, empty, of another type, huge) is rejected, and the server keeps running.',
    ...REQUIREMENT,
    remedy:
      'Check the type and the length of the state before you decode it, and answer with a JSON-RPC error (-32602) if it ' +
      'does not verify.',
    calls: (rounds) => 24 * Math.min(rounds, 2),
    run: async (context) => {
      const attack = await attackWith(context, malform, { nonsenseIsTried: true });
      const finding = judgeState('A malformed state', attack);
      if (finding.verdict === 'fail') return finding;
      const failed = attack.failed.filter((one) => !isCutOff(context, one));
      const silent = failed.find(({ session }) => session.lastTurn?.reply.status === undefined);
      if (silent)
        return fail(
          `${silent.label} in place of the state got no answer: ${silent.outcome}.`,
          silent.session,
        );
      const honest = context.session();
      const after = await honest.first();
      if (after.kind === 'failed')
        return fail(`After malformed states the server does not answer an honest call: ${after}.`, honest);
      // The server crashed on the request, but still serves.
      const [crashed] = failed;
      if (crashed)
        return advise(`${crashed.label} in place of the state came to ${crashed.outcome}.`, crashed.session);
      return finding.verdict === 'could-not-run' ? pass('rejected, or cut off if it was too long') : finding;
    },
  }),
  /** Decoders accept several spellings, which bypass a ledger that is keyed by the text. */
  defineCheck('state.aliased', 'A', {
    expected: 'A state has one spelling: the same bytes with other padding, case or whitespace are rejected.',
    clause: cite(
      'basic/patterns/mrtr, client requirements 2',
      'the client MUST echo back the exact value of that field when retrying the original request',
    ),
    remedy:
      'Compare or verify the text of the state and not only its decoded bytes: a ledger of used states that is keyed ' +
      'by the text can be bypassed with another spelling.',
    needs: ['state'],
    calls: (rounds) => 16 * Math.min(rounds, 2) + rounds + 24,
    run: async (context) => {
      const attack = await attackWith(context, (token) => inWorker('aliases', token));
      const { accepted } = attack;
      const [first] = accepted;
      if (first === undefined) return attack.finding;
      const used = await findReuse(context);
      if (used) return used;
      const labels = [...new Set(accepted.map(({ label }) => label))].join(', ');
      return advise(`The state was accepted in other spellings: ${labels}.`, first.session);
    },
  }),
  /** The state proves that a question was asked. Without it, answers are unasked. */
  defineCheck('state.dropped', 'A', {
    expected: 'A retry without its state is rejected, or asked again.',
    ...REQUIREMENT,
    remedy: 'Treat answers without the state of their question as unasked: ignore them, and ask.',
    run: async (context) => {
      const attack = startAttack(context);
      const attempt = { label: 'the retry without its state', changes: () => ({ requestState: undefined }) };
      await attack.send(context.lastRoundWithState, [attempt]);
      const [accepted] = attack.accepted;
      if (accepted && !context.facts.asksLike(0, accepted.end))
        return advise(`Without state the retry was accepted: ${accepted.end}.`, accepted.session);
      const [rejected] = attack.rejected;
      if (!accepted && !rejected) return attack.finding;
      return pass(`rejected, or asked again${rejected ? `: ${rejected.end}` : ''}`);
    },
  }),
];
