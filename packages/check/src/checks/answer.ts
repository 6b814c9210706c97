/** Answers that are unasked, misplaced, invalid or missing. */

import {
  type Attack,
  type AttackOptions,
  type Attempt,
  type Attempted,
  startAttack,
} from '../judging/attack.ts';
import { advise, cite, defineCheck, fail, notApplicable, pass, recommend, warn } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { isForm, isOptional, listRequired, schemaOf } from '../observations/forms.ts';
import { inWorker } from '../sandbox.ts';
import { requireAnswer, type Session } from '../session/session.ts';
import { type JsonObject, objectAt, shorten } from '../wire/json.ts';
import { comparable, nameOfQuestion } from '../wire/outcome.ts';

export const VALIDATE = cite(
  'client/elicitation, form mode security 3; 2026-07-28, basic/patterns/mrtr, error handling',
  'Servers SHOULD validate received data matches the requested schema. Servers SHOULD validate that the data provided ' +
    'by the client is a valid InputResponses object and that the information inside can be correctly parsed.',
);

export const IGNORE = cite(
  'basic/patterns/mrtr, error handling',
  'If additional, unexpected parameters are provided in the InputResponses object, the server SHOULD ignore any ' +
    'information it does not recognize or need.',
);

export function everyAnswer({ facts, answerer }: CheckContext, session: Session): JsonObject {
  const later = facts.rounds.map(({ requests }) => answerer.responses(requests));
  return Object.assign({}, ...later, session.answers());
}

const sameKeys = ({ facts }: CheckContext) =>
  new Set(facts.rounds.map(({ requests }) => Object.keys(requests).sort().join())).size < facts.rounds.length;

const MAX_MISFITS = 10;

const misfits = async ({ name, keyIn, schema }: Form, { inputs }: CheckContext) =>
  (await inWorker('invalidContents', schema, inputs.seed)).slice(0, MAX_MISFITS).map(({ why, content }) => {
    const label = `${name} accepted with ${shorten(JSON.stringify(content), 100)}, where ${why}`;
    return answering(keyIn, { content }, label);
  });

/** Answers one form honestly, but for the members of `changes`, and the others honestly. */
const answering = (keyIn: Form['keyIn'], changes: JsonObject, label: string): Attempt => ({
  label,
  changes(session) {
    const answers = session.answers();
    const now = keyIn(session);
    return { inputResponses: { ...answers, [now]: { ...objectAt(answers, now), ...changes } } };
  },
});

const lastFormRound = ({ facts }: CheckContext) =>
  facts.questions.findLast(({ request }) => isForm(request))?.round ?? 0;

interface Form {
  readonly name: string;
  readonly keyIn: (session: Session) => string;
  readonly schema: unknown;
  /** The form is optional and one of several, so the call may proceed without it. */
  readonly leavable: boolean;
}

const MAX_FORMS = 4;

/** Attacks each form, the last first, because it most likely guards an effect. */
async function attackForms(
  context: CheckContext,
  what: string,
  attempts: (form: Form) => Attempt[] | Promise<Attempt[]>,
  how: AttackOptions = {},
) {
  const { facts, effects } = context;
  const forms = facts.questions.filter(({ request }) => isForm(request)).toReversed();
  const attack = startAttack(context, { ...how, readsWords: true });
  for (const { round, key, request } of forms.slice(0, MAX_FORMS)) {
    const made = await attempts({
      name: nameOfQuestion(key, request),
      keyIn: ({ asked }) => facts.keyNow(round, key, asked),
      schema: schemaOf(request),
      leavable: isOptional(request) && facts.questions.filter((one) => one.round === round).length > 1,
    });
    await attack.send(round, made);
  }
  if (attack.attempted.length === 0) return notApplicable('no form has a field for this attack');
  const { accepted } = attack;
  const [first] = accepted;
  // Another result without the effect: the server handled the answers safely in its own way.
  const isHarmless = ({ matters, effect, end }: Attempted) =>
    !matters && effect === false && end.kind === 'completed' && !facts.endsLike(end);
  if (first && effects.mode === 'observed' && accepted.every(isHarmless))
    return pass(`it went on without the effect: ${first.end}`, first.session);
  const finding = judgeAnswers(what, attack);
  return attack.refusalCounts
    ? notApplicable('a refusal without content counts as an answer too, as refusal.no-effect reports')
    : finding;
}

/** A SHOULD: the server accepted answers that it should have rejected. */
function judgeAnswers(what: string, attack: Attack) {
  const [worst] = attack.accepted;
  if (worst === undefined) return attack.finding;
  return warn(attack.describe(what, worst), worst.session, { holds: worst.matters });
}

export const ASK_AGAIN = cite(
  'basic/patterns/mrtr, error handling',
  'If the client fails to send all the information requested …, and the missing information is necessary …, the ' +
    'server SHOULD respond with a new InputRequiredResult requesting the missing information again.',
);

/** Whether the honest answer of the first round has an effect, though other questions follow. */
async function hasEffectAtFirst(context: CheckContext) {
  const session = await context.untilRound(0);
  return (await context.measure(session, () => session.retry())).effect;
}

const SAME_WITHOUT = 'a retry without any answer ends the same, which answer.missing finds';

/** Whether a retry without any answer has the accepted outcome too. Then the answers did not count. */
async function sameWithoutAnswers(context: CheckContext, round: number, { accepted: [accepted] }: Attack) {
  if (accepted === undefined) return false;
  const session = await context.untilRound(round);
  const before = await context.effects.read();
  const outcome = await session.retry({ inputResponses: undefined });
  const end = comparable(context.judge(round, outcome) === 'same' ? await session.finish() : outcome);
  const attacked = comparable(accepted.end);
  const { final } = context.facts;
  // Only the retry with answers had an effect, so they counted.
  if (accepted.effect === true && (await context.effects.since(before)) === false) return false;
  return end === attacked || (final.like(end) === true && final.like(attacked) === true);
}

/** Clients leave the member out, or send it empty. */
const NO_ANSWERS = [
  ['without answers', undefined],
  ['with empty answers (`inputResponses: {}`)', {}],
] as const;

async function retryWithoutAnswers(
  context: CheckContext,
  round: number,
  [how, nothing]: (typeof NO_ANSWERS)[number],
) {
  const session = await context.untilRound(round);
  const what = `The retry ${how}${context.lastRound > 0 ? `, in round ${round + 1},` : ''}`;
  const finding = await retryWithTooFew(context, session, nothing, what);
  const asked = session.questions[round + 1];
  const again = asked && context.facts.asksLike(round, asked);
  if (finding.verdict !== 'pass' || !asked || again || context.judge(round, asked) !== 'same') return finding;
  return warn(`${what} was not asked again, but the next question: ${asked}.`, session);
}

/** Retries with too few answers: the server has to ask for the rest, and the call has to finish. */
async function retryWithTooFew(
  context: CheckContext,
  session: Session,
  inputResponses: JsonObject | undefined,
  what: string,
) {
  const { outcome, effect } = await context.measure(session, () => session.retry({ inputResponses }));
  if (effect) return warn(`${what} had an effect: ${outcome}.`, session, { holds: true });
  requireAnswer(outcome, what);
  if (outcome.kind !== 'asked') return warn(`${what} was not asked again: ${outcome}.`, session);
  const end = await session.finish(context.facts.rounds.length + 2);
  if (end.kind === 'completed') return pass('asked again, and then completed', session);
  return warn(`${what} was asked again, but the call did not end: ${end}.`, session);
}

export const ANSWER = [
  /** A client that knows the keys can answer before the question, so nobody consents. */
  defineCheck('answer.unasked', 'A', {
    expected: 'An answer in the first request, before any question, does not count.',
    clause: recommend(
      'a recommendation',
      'A client that knows the keys can answer before its user was asked, so that nobody consents.',
    ),
    remedy:
      'Count an answer only with the sealed state of its question. In TypeScript: the boundary of @mrtr/core seals which ' +
      'keys were asked, and drops every other answer.',
    calls: () => 2,
    run: async (context) => {
      const asking = await context.untilRound(0);
      const answers = everyAnswer(context, asking);
      const session = context.session();
      const first = () => session.first({ inputResponses: answers });
      const { outcome, effect } = await context.measure(session, first);
      requireAnswer(outcome);
      const { needsConsent } = context.inputs;
      // Without a probe, the result of an honest call counts as an effect.
      const counts = effect ?? (outcome.kind === 'completed' && context.facts.endsLike(outcome) !== false);
      const declared = counts ? ' With --needs-consent this is a fail.' : '';
      const words = `${outcome}${effect ? ', and the probe changed' : ''}.${declared}`;
      const judge = needsConsent && counts ? fail : advise;
      const failAs = (what: string) => judge(`The ${what}: ${words}`, session);
      if (outcome.kind === 'completed') return failAs('call completed without asking');
      if (outcome.kind === 'asked' && context.judge(0, outcome) === 'same')
        return failAs('first question was skipped');
      if (effect && !context.facts.asksLike(0, outcome)) return failAs('call had an effect without asking');
      return pass(outcome, session);
    },
  }),
  /** Sends the right content under a wrong key: a server that takes the only answer ignores the key. */
  defineCheck('answer.other-key', 'S', {
    expected: 'An answer under a key that was not asked does not count.',
    clause: IGNORE,
    remedy:
      'Read an answer by the key under which its question was sent, and by no other. In TypeScript: the boundary of @mrtr/core.',
    needs: ['form'],
    calls: (rounds) => 2 * (rounds + 1),
    run: async (context) => {
      const round = lastFormRound(context);
      const attack = startAttack(context);
      const renameKeys = (session: Session) =>
        Object.entries(session.answers()).map(([key, answer]) => [`${key}-mrtr-check`, answer]);
      await attack.send(round, [
        {
          label: 'the answers under keys that were not asked',
          changes: (session) => ({ inputResponses: Object.fromEntries(renameKeys(session)) }),
        },
      ]);
      if (await sameWithoutAnswers(context, round, attack)) return notApplicable(SAME_WITHOUT);
      return judgeAnswers('An answer under another key', attack);
    },
  }),
  defineCheck('answer.other-round', 'S', {
    expected: 'An answer to one question does not count for another, neither a later nor an earlier one.',
    clause: IGNORE,
    remedy: 'Take from each retry only the answers to the questions of the round before it.',
    needs: ['two-rounds'],
    calls: (rounds) => 3 * (rounds + 1),
    run: async (context) => {
      const last = context.lastRound;
      const late = startAttack(context);
      await late.send(last, [
        {
          label: 'the answers of round 1 in the last round',
          changes: () => ({
            inputResponses: context.answerer.responses(context.facts.requestsIn(0)),
          }),
        },
      ]);
      const repeats = sameKeys(context);
      if (late.accepted.length > 0 && repeats) return notApplicable('every round asks under the same key');
      const byDefault = await sameWithoutAnswers(context, last, late);
      const session = await context.untilRound(0);
      const answers = everyAnswer(context, session);
      const retry = () => session.retry({ inputResponses: answers });
      const { outcome: early, effect } = await context.measure(session, retry);
      const isEarly = early.kind === 'completed' || (effect && !(await hasEffectAtFirst(context)));
      if (isEarly && !repeats)
        return warn(`Answers of later rounds counted at once: ${early}.`, session, {
          holds: true,
        });
      return byDefault ? notApplicable(SAME_WITHOUT) : judgeAnswers('An answer of another round', late);
    },
  }),
  defineCheck('answer.invalid', 'S', {
    expected: 'Content that does not fit the asked schema is rejected, or asked again.',
    clause: VALIDATE,
    remedy:
      'Validate each content by the schema that was asked, and ask again where it does not fit. In TypeScript: readAnswer() ' +
      'of @mrtr/core, or the schema as the third argument of the acceptedContent() of the SDK.',
    needs: ['form'],
    calls: (rounds) => 20 * rounds,
    run: (context) => attackForms(context, 'Content that does not fit', (form) => misfits(form, context)),
  }),
  /** An accept without content shows that a form was sent, but not its values. */
  defineCheck('answer.empty-accept', 'S', {
    expected: 'An accept without content does not answer a form with required fields.',
    clause: VALIDATE,
    remedy:
      'Read the content, and not only the action: ask again after an accept without the required fields. In TypeScript: ' +
      'readAnswer() of @mrtr/core.',
    needs: ['form'],
    calls: (rounds) => 10 * rounds,
    run: (context) =>
      attackForms(context, 'An accept without content', ({ name, keyIn, schema }) => {
        if (listRequired(schema).length === 0) return [];
        return [
          answering(keyIn, { content: undefined }, `${name} accepted without content`),
          answering(keyIn, { content: {} }, `${name} accepted with empty content`),
        ];
      }),
  }),
  /** Some clients decline a form and still send its content. A server that reads only the content proceeds. */
  defineCheck('answer.refusal-with-content', 'S', {
    expected: 'Content beside a decline, a cancel or an unknown action is no answer.',
    clause: cite(
      'schema, ElicitResult.content',
      'The submitted form data, only present when action is "accept" and mode was "form".',
    ),
    remedy:
      'Look at the action before the content. In TypeScript: readAnswer() of @mrtr/core, or acceptedContent() of the SDK.',
    needs: ['form'],
    calls: (rounds) => 26 * rounds,
    run: (context) =>
      attackForms(
        context,
        'A refusal with content',
        ({ name, keyIn, leavable }) =>
          (leavable ? [] : ['decline', 'cancel', 'mrtr-check']).map((action) =>
            answering(keyIn, { action }, `${name} refused with ${action}, and its content beside it`),
          ),
        { declinedIsRejected: true },
      ),
  }),
  /** An error would discard the user's other answers. */
  defineCheck('answer.missing', 'S', {
    expected: 'A retry without any answer is asked again, and the call can still be finished.',
    clause: ASK_AGAIN,
    remedy:
      'If an answer is missing, return the same questions again, not an error or a default. If a question is optional, so ' +
      'that a missing answer means its default, put this check into the baseline with that reason.',
    calls: (rounds) => 4 * (rounds + 2),
    run: async (context) => {
      const asking = context.facts.rounds.flatMap(({ requests }, round) =>
        Object.values(requests).every(isOptional) ? [] : [round],
      );
      let finding = notApplicable('every question of the operation is optional');
      // Try the first round and the last, which most often guards an effect.
      for (const round of new Set([...asking.slice(0, 1), ...asking.slice(-1)]))
        for (const none of NO_ANSWERS) {
          finding = await retryWithoutAnswers(context, round, none);
          if (finding.verdict !== 'pass') return finding;
        }
      return finding;
    },
  }),
  /** Tries both orders: a server may keep the first answer and lose the second. */
  defineCheck('answer.partial', 'S', {
    expected: 'Two questions can be answered one after the other, in either order.',
    clause: ASK_AGAIN,
    remedy:
      'Keep the received answers in the sealed state, and ask only for the missing ones. In TypeScript: the shapes once, ' +
      'tool-builder, resolve and journal of @mrtr/core.',
    needs: ['two-questions'],
    calls: (rounds) => 2 * (rounds + 4),
    run: async (context) => {
      const round = context.facts.rounds.findIndex(({ requests }) => Object.keys(requests).length > 1);
      let found = notApplicable('of the questions that it asks at once, only one is required');
      for (const order of [0, 1]) {
        const session = await context.untilRound(round);
        const key = Object.keys(session.asked)[order] ?? '';
        const { [key]: _, ...others } = session.asked;
        // The call may proceed without optional answers.
        if (Object.values(others).every(isOptional)) continue;
        const alone = { [key]: session.answers()[key] };
        found = await retryWithTooFew(context, session, alone, `The retry with the answer to '${key}' alone`);
        if (found.verdict !== 'pass') return found;
      }
      return found;
    },
  }),
];
