/** The text of a question that asks for consent, and the characters that an argument can put into it. */
import { abstain, advise, cite, notApplicable, notGiven, pass } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { textsOf } from '../../observations/consents.ts';
import { isPage } from '../../observations/forms.ts';
import { Likeness } from '../../session/likeness.ts';
import { requireAnswer, type Session, type SessionOptions } from '../../session/session.ts';
import { canonical, objectAt, shorten } from '../../wire/json.ts';
import { consentCheck } from './consent-check.ts';

/** Makes a call up to its last question, and leaves that unanswered. */
async function callUntilAsked(context: CheckContext, options: SessionOptions = {}) {
  const session = context.session(options);
  await session.finish(context.lastRound);
  const asked = session.questions.map(({ requests }) => requests);
  return { session, asked, texts: asked.flatMap(textsOf) };
}

function notAsked({ inputs }: CheckContext, session: Session) {
  const words = `a call with other arguments asked nothing: ${session.last ?? ''}`;
  return inputs.otherArguments
    ? abstain(words, session)
    : notGiven(`${words}. Give some with --other-arguments`);
}

const TRICKS = [
  ['A line break', '\n'],
  ['A bidirectional mark (U+202E)', '\u202e'],
  ['A control character (U+001B)', '\u001b'],
  ['A zero-width character (U+200B)', '\u200b'],
] as const;
const MAX_ARGUMENTS = 4;

const LIMITING = ['enum', 'const', 'oneOf', 'anyOf', 'format', 'pattern'];

/** The names of free-text arguments, those that were given first. */
function textArguments(context: CheckContext) {
  const { operation } = context;
  const { arguments: given, kind } = operation;
  if (kind === 'resource') return [];
  const properties = objectAt(context.schemaOf(operation), 'properties');
  const isFreeText = (name: string) => {
    const property = objectAt(properties, name);
    const type = name in given ? typeof given[name] : property.type;
    return type === 'string' && !LIMITING.some((key) => key in property);
  };
  const names = new Set([...Object.keys(given), ...Object.keys(properties)]);
  return [...names].filter(isFreeText).slice(0, MAX_ARGUMENTS);
}

const LONG = 'x'.repeat(400);

/** Whether a question shows an argument, and hides the end of a long one: what the user agrees to may stand there. */
async function findCut(context: CheckContext, { texts, session: { varied, operation } }: UntilAsked) {
  const { arguments: given } = operation;
  for (const name of textArguments(context).filter((one) => texts.join().includes(`${given[one]}`))) {
    const ask = (end: string) => {
      const changed = { ...operation, arguments: { ...given, [name]: `${LONG}${end}` } };
      return callUntilAsked(context, { operation: changed, varied });
    };
    const [one, other] = [await ask('1'), await ask('2')];
    if (other.asked.length === 0 || one.texts.join() !== other.texts.join()) continue;
    return advise(
      `Two long values of '${shorten(name, 40)}' that end differently got the same question.`,
      other.session,
    );
  }
  return undefined;
}

type UntilAsked = Awaited<ReturnType<typeof callUntilAsked>>;

export const WORDS = [
  consentCheck('blind', {
    expected: 'The question differs between calls with different arguments.',
    clause: cite(
      'client/elicitation, request',
      'message: A human-readable message explaining why the interaction is needed.',
    ),
    mend:
      'Say in the question what the user agrees to, with its values; that does not prove that somebody read them. In ' +
      'TypeScript: `words` of @mrtr/core is a template for that, in any form.',
    needs: ['other-arguments'],
    calls: (rounds) => (3 + 2 * MAX_ARGUMENTS) * rounds,
    run: async (context) => {
      const words = new Likeness();
      const first = await callUntilAsked(context);
      // Nothing is answered, so that also an argument that is new in each call may stay the same.
      const { varied } = first.session;
      for (const { texts } of [first, await callUntilAsked(context, { varied })]) words.add(texts.join('\n'));
      const other = { operation: context.otherOperation, varied };
      const { session, asked, texts } = await callUntilAsked(context, other);
      if (asked.length === 0) return notAsked(context, session);
      const same = words.like(texts.join('\n'));
      const shown = texts.join();
      const isShown = Object.entries(session.operation.arguments).some(
        ([name, value]) => value !== first.session.operation.arguments[name] && shown.includes(`${value}`),
      );
      if (same === undefined && !isShown) return abstain('its questions differ in each call', session);
      if (!same)
        return (await findCut(context, first)) ?? pass('the question differs for other arguments', session);
      const what = `${shorten(canonical(context.otherOperation.arguments), 100)} got a question with the same text`;
      if (asked.some((all) => Object.values(all).some(isPage)))
        return abstain(`${what}, and the checker does not open the page, which may say more`, session);
      return advise(`${what}: ${shorten(texts[0] ?? '', 100)}.`, session);
    },
  }),
  consentCheck('spoofed', {
    expected:
      'Line breaks, bidirectional marks, control and zero-width characters of an argument do not reach the question unescaped.',
    clause: cite('server/tools, security considerations', 'Servers MUST: Validate all tool inputs.'),
    mend:
      'Escape what an argument brings into a question; a lie in plain letters defeats that. In TypeScript: `words` of ' +
      '@mrtr/core does, in any form.',
    calls: (rounds) => MAX_ARGUMENTS * TRICKS.length * rounds,
    run: async (context) => {
      const { operation } = context.inputs;
      const names = textArguments(context);
      let asks = 0;
      for (const name of names) {
        for (const [what, character] of TRICKS) {
          const given = operation.arguments[name];
          const mark = `mrtr${character}check`;
          const value = typeof given === 'string' ? `${given} ${mark}` : mark;
          const changed = { ...operation, arguments: { ...operation.arguments, [name]: value } };
          const { session, asked, texts } = await callUntilAsked(context, { operation: changed });
          if (session.last) requireAnswer(session.last, `${what} in '${name}'`, session);
          if (asked.length > 0) asks++;
          if (texts.some((text) => text.includes(mark)))
            return advise(
              `${what} in the argument '${shorten(name, 40)}' reached the question as it is.`,
              session,
            );
        }
      }
      if (names.length === 0) return notApplicable('no argument is free text');
      const rejected = names.length * TRICKS.length - asks;
      return pass(
        `of ${names.length * TRICKS.length} calls, ${rejected} were rejected and ${asks} asked without them`,
      );
    },
  }),
];
