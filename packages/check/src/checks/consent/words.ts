/** The text of a question that asks for consent, and the characters that an argument can put into it. */
import { abstain, advise, notApplicable, notGiven, pass } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { textsOf } from '../../observations/consents.ts';
import { isElicitation, isForm } from '../../observations/forms.ts';
import { Likeness } from '../../session/likeness.ts';
import { requireAnswer, type Session } from '../../session/session.ts';
import type { Operation } from '../../target/target.ts';
import { canonical, isObject, type JsonObject, objectAt, shorten } from '../../wire/json.ts';
import { describeOutcome } from '../../wire/outcome.ts';
import { consentCheck } from './consent-check.ts';

/** Makes a call up to its last question, and leaves that unanswered. */
async function callUntilAsked(context: CheckContext, operation?: Operation) {
  const session = context.session(operation && { operation });
  await session.finish(context.lastRound);
  const asked = session.questions.map(({ requests }) => requests);
  return { session, asked, texts: asked.flatMap(textsOf) };
}

function notAsked({ inputs }: CheckContext, session: Session) {
  const words = `a call with other arguments asked nothing: ${session.last ? describeOutcome(session.last) : ''}`;
  return inputs.otherArguments
    ? abstain(words, session)
    : notGiven(`${words}. Give some with --other-arguments`);
}

const TRICKS = [
  ['A line break', '\n'],
  ['A bidirectional mark (U+202E)', '\u202e'],
  ['A control character (U+001B)', '\u001b'],
] as const;
const MAX_ARGUMENTS = 4;

/** The names of free-text arguments, those that were given first. */
function textArguments(context: CheckContext) {
  const { operation } = context;
  const { arguments: given, kind } = operation;
  if (kind === 'resource') return [];
  const properties = objectAt(context.schemaOf(operation), 'properties');
  const isFree = (name: string) => {
    const property: JsonObject = objectAt(properties, name);
    return !['enum', 'const', 'oneOf', 'anyOf', 'format', 'pattern'].some((key) => key in property);
  };
  const own = Object.keys(given).filter((name) => typeof given[name] === 'string' && isFree(name));
  const others = Object.entries(properties).filter(
    ([name, property]) =>
      isObject(property) && property.type === 'string' && !(name in given) && isFree(name),
  );
  return [...own, ...others.map(([name]) => name)].slice(0, MAX_ARGUMENTS);
}

export const WORDS = [
  consentCheck('blind', {
    expected: 'The question differs between calls with different arguments.',
    clause: {
      at: '2026-07-28, client/elicitation, request',
      words: 'message: A human-readable message explaining why the interaction is needed.',
    },
    mend:
      'Say in the question what the user agrees to: `words` of @mrtr/core is a template for that, in any form. It shows the ' +
      'values, and does not prove that somebody read them.',
    needs: ['other-arguments'],
    calls: (rounds) => 3 * rounds,
    run: async (context) => {
      const words = new Likeness();
      for (let time = 0; time < 2; time++) words.add((await callUntilAsked(context)).texts.join('\n'));
      const { session, asked, texts } = await callUntilAsked(context, context.otherOperation);
      if (asked.length === 0) return notAsked(context, session);
      const same = words.like(texts.join('\n'));
      if (same === undefined) return abstain('its questions differ in each call', session);
      const isNamed = Object.values(session.varied).some((value) => texts.join('\n').includes(`${value}`));
      if (!same || isNamed) return pass('the question differs for other arguments', session);
      const isPage = asked.some((all) =>
        Object.values(all).some((one) => isElicitation(one) && !isForm(one)),
      );
      const what = `${shorten(canonical(context.otherOperation.arguments), 100)} got a question with the same text`;
      if (isPage)
        return abstain(`${what}, and the checker does not open the page, which may say more`, session);
      return advise(`${what}: ${shorten(texts[0] ?? '', 100)}.`, session);
    },
  }),
  consentCheck('spoofed', {
    expected:
      'Line breaks, bidirectional marks and control characters of an argument do not reach the question unescaped.',
    clause: {
      at: '2026-07-28, server/tools, security considerations',
      words: 'Servers MUST: Validate all tool inputs.',
    },
    mend:
      'Escape what an argument brings into a question: `words` of @mrtr/core does, in any form. A lie in plain letters ' +
      'defeats it.',
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
          const { session, asked, texts } = await callUntilAsked(context, changed);
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
