/** Forms that some clients do not draw, and prompts that repeat themselves: each variant is found, without false findings. */
import { lists, type Sent, says, type Twist } from '../scripted.test-support.ts';
import { advice, asked, isCall, isRetry, pass, undecided, ways, when } from './ways.test-support.ts';

const formOf = (properties: object, required: readonly string[], message = 'What may it be?') => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties, required } },
});

/** A tool that asks one form. */
const tool = (form: object, annotations: object = {}): Twist => {
  const names = ['send', 'count'].map((name) => ({ name, inputSchema: { type: 'object' }, annotations }));
  return (sent, honest) => {
    if (sent.method === 'tools/list') return lists(...names);
    if (!isCall(sent)) return honest();
    return isRetry(sent) ? says('Sent.') : asked({ form });
  };
};

const GENERATED = { generateAnswers: true, answers: {} };
const asks = (properties: object, required = Object.keys(properties)) => tool(formOf(properties, required));
const isDrawn = (twist: Twist) => pass(/^texts, yes or no, and choices$/, twist, GENERATED);
const isNot = (words: RegExp, twist: Twist) => advice(words, twist, GENERATED);

const TEXT = { type: 'string' };
const NUMBER = { type: 'integer', minimum: 1 };
const CHOICE = { type: 'string', enum: ['a', 'b'] };
const LIST = { type: 'array', items: CHOICE };
const BESIDE = /^In the form of 'form', 'value' is no text, and stands beside other fields\.$/;
const MAY_BE_EMPTY = /'value' may be left empty/;
const SURE = formOf({ sure: { type: 'boolean' } }, ['sure']);

ways('form.portable', {
  'a number beside a text': isNot(BESIDE, asks({ name: TEXT, value: NUMBER })),
  'several choices beside a text': isNot(BESIDE, asks({ name: TEXT, value: LIST })),
  'an optional number': isNot(MAY_BE_EMPTY, asks({ value: NUMBER }, [])),
  'an optional email': isNot(
    MAY_BE_EMPTY,
    asks({ name: TEXT, value: { ...TEXT, format: 'email' } }, ['name']),
  ),
  'an optional choice': isNot(MAY_BE_EMPTY, asks({ name: TEXT, value: CHOICE }, ['name'])),
  'an optional text with a minimum': isNot(MAY_BE_EMPTY, asks({ value: { ...TEXT, minLength: 2 } }, [])),
  'a date-time': isNot(/accept it without a zone/, asks({ value: { ...TEXT, format: 'date-time' } })),
  'a bare yes or no of a destructive tool': isNot(
    /'sure' alone confirms/,
    tool(SURE, { destructiveHint: true }),
  ),
  'a bare yes or no of another tool is right': isDrawn(tool(SURE, { destructiveHint: false })),
  'a number alone is right': isDrawn(asks({ value: NUMBER })),
  'texts, choices, and yes or no are right': isDrawn(
    asks({ name: TEXT, choice: CHOICE, more: { type: 'boolean' } }),
  ),
  'an optional text is right': isDrawn(asks({ name: TEXT, note: TEXT }, ['name'])),
});

const isEmpty = (sent: Sent, key = 'form') =>
  JSON.stringify(sent.params.inputResponses?.[key]?.content) === '{}';
/** Asks again after an empty form, with what `message` makes of the number of the prompt. */
const again = (message: (time: number) => string): Twist => {
  let time = 0;
  const ask = when(isEmpty, () => asked({ form: formOf({ name: TEXT }, ['name'], message(++time)) }));
  const first = asks({ name: TEXT });
  return (sent, honest, world) => ask(sent, () => first(sent, honest, world), world);
};

ways('form.rounds', {
  'the same reason each time': advice(
    /^The same words were asked \d+ times, of a client that sends `accept \{\}`\.$/,
    again(() => 'What may it be? The form came back empty.'),
    GENERATED,
  ),
  'other words each time are right': pass(
    /^prompt 26 was the last/,
    again((time) => `Please, attempt ${time}.`),
    GENERATED,
  ),
  'an end at once is right': pass(/^prompt 1 was the last: completed/, asks({ name: TEXT }), GENERATED),
  'no answer': undecided(
    /the connection failed/,
    when((sent) => isEmpty(sent, 'account'), 'hang-up'),
  ),
});
