/** Effects without consent, and with consent that a client gives without its user. */
import { advise, cite, isFault, notApplicable, pass, warn } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import {
  asksForYes,
  choicesMade,
  contentAsShown,
  noesTo,
  noTo,
  refusalIn,
} from '../../observations/consents.ts';
import { isForm, requiresNothing } from '../../observations/forms.ts';
import { lacking } from '../../run/needs.ts';
import { MAX_ROUNDS, requireAnswer, type Session, type SessionOptions } from '../../session/session.ts';
import { asList, asObject, canonical, type JsonObject, objectAt, shorten } from '../../wire/json.ts';
import type { ReplyOutcome } from '../../wire/outcome.ts';
import { everyAnswer } from '../answer.ts';
import { endsTheSame, NOTHING_FILLED_IN } from '../refusal.ts';
import { consentCheck, consentKindOf } from './consent-check.ts';

const HUMAN = cite(
  'server/tools, user interaction model',
  'For trust & safety and security, there SHOULD always be a human in the loop with the ability to deny tool invocations.',
);
const ACCEPTED = cite(
  'client/elicitation, response actions',
  'Accept: User explicitly approved and submitted with data.',
);

/** Sends one request, and reads its effect. Ignores the effect of a question: `effect.before-answer` reports that. */
async function sendAndLook(context: CheckContext, session: Session, send: () => Promise<ReplyOutcome>) {
  const { effects } = context;
  const { outcome, before, effect = false } = await context.measure(session, send);
  if (!effect || !effects.asking) return { outcome, effect };
  const whole = (effects.count(before, effects.last) ?? 1) > 0.99;
  return { outcome, effect: outcome.kind === 'completed' && whole };
}

interface Calling extends SessionOptions {
  /** Extra members of the first request. */
  readonly extra?: JsonObject;
  readonly retries?: number;
  /** Answers a form. Default: the honest answer. */
  readonly answer?: (request: JsonObject, honest: JsonObject) => JsonObject;
}

/** Makes one call: honest, unless the options change it. */
async function call(
  context: CheckContext,
  { extra, retries = MAX_ROUNDS, answer = (_, honest) => honest, ...options }: Calling,
) {
  const session = context.session(options);
  let seen = await sendAndLook(context, session, () => session.first(extra));
  let { effect } = seen;
  for (let round = 0; seen.outcome.kind === 'asked' && round < retries; round++) {
    const inputResponses = session.mapAnswers((honest, request) =>
      isForm(request) ? answer(request, honest) : honest,
    );
    seen = await sendAndLook(context, session, () => session.retry({ inputResponses }));
    effect ||= seen.effect;
  }
  return { session, outcome: seen.outcome, effect };
}

const callsOf = (rounds: number) => MAX_ROUNDS + rounds;

function judgeSeen(
  context: CheckContext,
  { session, outcome, effect }: Awaited<ReturnType<typeof call>>,
  what: string,
) {
  if (effect) return advise(`${what} had the effect: ${outcome}.`, session);
  requireAnswer(outcome, what, session);
  const unseen = lacking(['effects'], context);
  if (unseen && unseen.verdict !== 'not-applicable' && context.endsAsHonest(outcome))
    return warn(endsTheSame(what, outcome), session);
  if (unseen) return unseen;
  return pass(`${what} had no effect: ${outcome}`, session);
}

const WAYS: readonly (readonly [what: string, how: Calling])[] = [
  ['a client that declares nothing', { capabilities: {} }],
  ['a client that shows forms alone', { capabilities: { elicitation: {} } }],
  ['a client that opens URLs alone', { capabilities: { elicitation: { url: {} } } }],
];

/**
 * A tool that never asks, or that asks each user once, fails honest calls, but may have an effect. A consent on a page may
 * apply to the next call.
 */
async function neverAsks(context: CheckContext) {
  const { effects, inputs } = context;
  if (!inputs.needsConsent || !inputs.probe || consentKindOf(context) === 'page') return undefined;
  const [first, before] = [await effects.read(), await effects.read()];
  const session = context.session();
  const outcome = await session.first();
  if (outcome.kind !== 'completed' || first !== before || !(await effects.since(before, session)))
    return undefined;
  return advise(`The call had an effect, and nobody was asked: ${outcome}.`, session);
}

/** Some clients leave out the content, and others send an empty one. */
const EMPTY_ACCEPTS = [
  ['`accept {}`', NOTHING_FILLED_IN],
  ['An accept without content', { action: 'accept' }],
] as const;

const describeContents = (contents: readonly JsonObject[]) =>
  shorten(
    contents
      .flatMap((one) => Object.entries(one).map(([name, value]) => `${name} = ${canonical(value)}`))
      .join(', '),
    100,
  );

const YES =
  /^(?:yes|ok|sure|force|auto_?(?:confirm|approve|accept)|(?:user_?|is_?|pre_?)?(?:confirm|approv|consent|acknowledg)|skip_?(?:confirm|approv|consent|prompt|question)|no_?(?:confirm|prompt)|assume_?yes|i_?am_?sure|bypass|allow|override|proceed)/i;
const MAX_NAMES = 4;

/** A value of the argument that means yes, by its schema. */
function yesFor(property: unknown) {
  const { type, const: only, enum: all } = asObject(property);
  const choices = asList(all).filter((one) => one !== refusalIn(property));
  if (only !== undefined || choices.length > 0) return only ?? choices.at(-1);
  return type === 'string' ? 'yes' : type === 'integer' || type === 'number' ? 1 : true;
}

export const CONSENT = [
  consentCheck('unasked-effect', {
    expected: 'A call has no effect unless the user was asked.',
    clause: HUMAN,
    mend:
      'Let the effect follow from an answer alone: no default for a client that cannot be asked, and no answer that came ' +
      'before its question. Such a client gets an error (-32021 in 2026-07-28).',
    needs: ['effects'],
    calls: () => 2 * WAYS.length + 3,
    run: async (context) => {
      const inputResponses = everyAnswer(context, await context.untilRound(0));
      const early = ['an answer that came with the first request', { extra: { inputResponses } }] as const;
      const ends: string[] = [];
      for (const [what, how] of [early, ...WAYS]) {
        const first = () => call(context, { ...how, retries: 0 });
        let { session, outcome, effect } = await first();
        // A consent given on a page earlier may still apply to one call. So call again.
        if (effect && consentKindOf(context) === 'page') ({ session, outcome, effect } = await first());
        requireAnswer(outcome, what, session);
        if (effect)
          return advise(`With ${what} the probe changed, and nobody was asked: ${outcome}.`, session);
        ends.push(`${what}: ${outcome}`);
      }
      return pass(ends[1] ?? '');
    },
    judgeReceived: (context) => context.once('never asks', () => neverAsks(context)),
  }),
  consentCheck('empty-form', {
    expected:
      '`accept {}`, which some clients send to every form without their user, does not have the effect.',
    clause: ACCEPTED,
    mend: 'Require a field whose value says yes, and read it.',
    needs: ['form'],
    calls: (rounds) => 4 * callsOf(rounds),
    run: async (context) => {
      const mayGuard = (request: JsonObject) => requiresNothing(request) || asksForYes(request);
      const guards = context.facts.questions.filter(({ request }) => mayGuard(request)).length;
      const isOne = guards === 0 || guards === context.facts.questions.length;
      let found = notApplicable('no form can be sent empty');
      // Another form, which asks for data, may stop the call in which every form is empty.
      for (const [what, nothing] of EMPTY_ACCEPTS)
        for (const isEvery of isOne ? [true] : [true, false]) {
          const seen = await call(context, {
            answer: (request, honest) => (isEvery || mayGuard(request) ? nothing : honest),
          });
          const where = isEvery ? 'every form' : 'the forms that may ask for a yes';
          found = judgeSeen(context, seen, `${what}, sent to ${where},`);
          if (isFault(found)) return found;
        }
      return found;
    },
  }),
  consentCheck('default-yes', {
    expected: 'A form that is sent unchanged, with its defaults, does not have the effect.',
    clause: cite(
      'client/elicitation, requested schema',
      'Clients that support defaults SHOULD pre-populate form fields with these values.',
    ),
    mend: 'Give the field that says yes no default, or the default that refuses.',
    needs: ['form', 'effects'],
    calls: callsOf,
    run: async (context) => {
      const made = context.facts.questions.map(({ request }) => choicesMade(request));
      if (made.every((one) => Object.keys(one).length === 0))
        return notApplicable('no form chooses by a default');
      const seen = await call(context, {
        answer: (request, honest) => ({
          action: 'accept',
          content: contentAsShown(request, objectAt(honest, 'content')),
        }),
      });
      const saysNo = made.every((one) => Object.values(one).every((value) => value === false));
      if (seen.effect && saysNo)
        return notApplicable('its default is a no that counts as a yes, which consent.false-in-form finds');
      return judgeSeen(context, seen, `The form as it is shown (${describeContents(made)})`);
    },
  }),
  consentCheck('false-in-form', {
    expected: 'An accepted form whose content says no does not have the effect.',
    clause: ACCEPTED,
    mend: 'Read the value, and not only the action or that something was filled in.',
    needs: ['form'],
    calls: callsOf,
    run: async (context) => {
      const said: JsonObject[] = [];
      const seen = await call(context, {
        answer: (request, honest) => {
          const no = noTo(honest, request);
          if (no !== honest) said.push(noesTo(request, objectAt(honest, 'content')));
          return no;
        },
      });
      if (said.length === 0) return notApplicable('no form has a field that could say no');
      return judgeSeen(
        context,
        seen,
        `An accepted form that says no (${describeContents(said.slice(0, 1))})`,
      );
    },
  }),
  consentCheck('argument', {
    expected: 'No argument of the tool skips the question, because a model fills in the arguments.',
    clause: HUMAN,
    mend: 'Remove the argument from the schema, because the model that calls the tool can set it.',
    needs: ['effects'],
    calls: (rounds) => MAX_NAMES * (rounds + 2),
    run: async (context) => {
      const { facts, inputs } = context;
      const properties = Object.entries(objectAt(context.schemaOf(inputs.operation), 'properties'));
      const named = properties.filter(([name]) => YES.test(name)).slice(0, MAX_NAMES);
      const honest = facts.questions.length;
      // consent.unasked-effect reports a client that gets the effect even without the argument.
      const always = named.length > 0 && (await call(context, { capabilities: {} })).effect;
      const clients = [{}, ...(always ? [] : [{ capabilities: {} }])];
      for (const [name, property] of named) {
        const given = { ...inputs.operation.arguments, [name]: yesFor(property) };
        const operation = { ...inputs.operation, arguments: given };
        const what = `With the argument ${describeContents([{ [name]: given[name] }])}`;
        for (const client of clients) {
          const { session, effect } = await call(context, { operation, ...client });
          const asked = session.questions.flatMap(({ requests }) => Object.keys(requests)).length;
          if (!effect || asked >= honest) continue;
          const less = asked === 0 ? 'nobody was asked' : `only ${asked} of ${honest} questions were asked`;
          return advise(`${what} ${less}, and the probe changed.`, session);
        }
      }
      if (named.length === 0) return notApplicable('no argument of its schema is named like a yes');
      return pass(`${named.map(([name]) => `'${shorten(name, 40)}'`).join(', ')} made no question go away`);
    },
  }),
];
