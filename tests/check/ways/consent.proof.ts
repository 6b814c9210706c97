/** Effects without consent: each variant of a fault is found alone, without false findings. */
import { formOf, lists, refuses, type Sent, says, type Twist, untwisted } from '../scripted.test-support.ts';
import {
  advice,
  asked,
  asking,
  fail,
  isCall,
  isRetry,
  notApplicable,
  pass,
  SECOND_STAGE,
  unaskable,
  undecided,
  warn,
  ways,
  when,
  writing,
} from './ways.test-support.ts';

const DECLARED = { needsConsent: true };
const sends = writing(says('Sent.'));
const declares = (mode: string) => (sent: Sent) =>
  isCall(sent) && JSON.stringify(sent.params.capabilities) === mode;

/** Remembers that its user said yes. */
function askingOnce(): Twist {
  let isSure = false;
  return when(isCall, (sent, honest, world) => {
    if (isSure) return sends(sent, honest, world);
    const { effects } = world;
    const answer = honest();
    isSure = world.effects > effects;
    return answer;
  });
}

ways('consent.unasked-effect', {
  'a client of URLs': fail(
    /opens URLs alone the probe changed/,
    when(declares('{"elicitation":{"url":{}}}'), sends),
    DECLARED,
  ),
  'a tool that never asks': fail(
    /^The call had an effect, and nobody was asked/,
    when(isCall, sends),
    DECLARED,
  ),
  'a tool that asks once, and remembers the yes for later calls': fail(
    /^The call had an effect, and nobody was asked/,
    askingOnce(),
    DECLARED,
  ),
  'a tool that asks nothing and does nothing': undecided(
    /asked nothing/,
    when(isCall, says('Read.')),
    DECLARED,
  ),
  'no answer': undecided(/no answer: the connection failed/, when(unaskable, 'hang-up')),
});

const YES = { type: 'boolean' };
const CHOICE = { enum: ['no', 'yes'] };
const form = (schema: object) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Send it to bob?', requestedSchema: { type: 'object', ...schema } },
});
const field = (value: object) => form({ properties: { value }, required: ['value'] });

/** A tool that asks one question. `isYes` says which contents have the effect. */
const tool =
  (question: object, isYes: (content: Record<string, unknown>) => boolean): Twist =>
  (sent, honest, world) => {
    if (!isCall(sent)) return honest();
    if (!isRetry(sent)) return unaskable(sent) ? refuses(-32021) : asked({ sure: question });
    const { action, content = {} } = sent.params.inputResponses?.sure ?? {};
    if (action !== 'accept' || !isYes(content)) return says('Nothing was sent.');
    return sends(sent, honest, world);
  };
const any = () => true;
const isTrue = ({ value }: Record<string, unknown>) => value === true;
const isChosen = ({ value }: Record<string, unknown>) => value === 'yes';
const answers = (value: unknown) => ({ ...DECLARED, answers: { sure: { value } } });
const NO_FIELDS = { ...DECLARED, generateAnswers: true, answers: {} };

const bare = ({ params }: Sent) =>
  params.inputResponses?.sure?.action === 'accept' && params.inputResponses.sure.content === undefined;
const emptied = (sent: Sent) => JSON.stringify(sent.params.inputResponses?.account?.content) === '{}';

ways('consent.empty-form', {
  'a form without fields': fail(
    /sent to every form, had the effect/,
    tool(form({ properties: {} }), any),
    NO_FIELDS,
  ),
  'an accept without content': fail(
    /^An accept without content, sent to every form, had the effect/,
    (sent, honest, world) =>
      when(bare, sends)(sent, () => tool(field(YES), isTrue)(sent, honest, world), world),
    answers(true),
  ),
  'a form without fields, and no probe': warn(
    /sent to every form, ended as an honest call does/,
    tool(form({ properties: {} }), any),
    { ...NO_FIELDS, probe: undefined },
  ),
  'an effect before the next question': fail(
    /sent to every form, had the effect/,
    when(emptied, (sent, honest, world) =>
      writing(asking(SECOND_STAGE)(sent, honest, world))(sent, honest, world),
    ),
    DECLARED,
  ),
  'no answer': undecided(/got no answer/, when(emptied, 'hang-up')),
});

ways('consent.default-yes', {
  'a choice': fail(/\(value = "yes"\)/, tool(field({ ...CHOICE, default: 'yes' }), isChosen), answers('yes')),
  'a default that refuses is right': pass(
    /no effect/,
    tool(field({ ...CHOICE, default: 'no' }), isChosen),
    answers('yes'),
  ),
  'no default': notApplicable(/no form chooses/, tool(field(CHOICE), isChosen), answers('yes')),
});

ways('consent.false-in-form', {
  'a choice': fail(/\(value = "no"\) had the effect/, tool(field(CHOICE), any), answers('yes')),
  'a choice, and no probe': warn(/\(value = "no"\) ended as an honest call does/, tool(field(CHOICE), any), {
    ...answers('yes'),
    probe: undefined,
  }),
  'a choice by its title': fail(
    /\(value = "b"\) had/,
    tool(
      field({
        oneOf: [
          { const: 'a', title: 'Send' },
          { const: 'b', title: 'Do not send' },
        ],
      }),
      any,
    ),
    answers('a'),
  ),
  'nothing that says no': notApplicable(
    /no form has a field/,
    tool(field({ type: 'string' }), any),
    answers('bob'),
  ),
});

/** Lists the tool with other arguments in its schema. */
const listing =
  (properties: object, twist: Twist): Twist =>
  (sent, honest, world) =>
    sent.method === 'tools/list'
      ? lists(...['send', 'count'].map((name) => ({ name, inputSchema: { type: 'object', properties } })))
      : twist(sent, honest, world);
const given = (name: string, value: unknown) => (sent: Sent) =>
  isCall(sent) && sent.params.arguments?.[name] === value;

ways('consent.argument', {
  'a word': advice(
    /confirmation = "yes" nobody/,
    listing({ confirmation: { type: 'string' } }, when(given('confirmation', 'yes'), sends)),
  ),
  'a flag for clients that cannot be asked': fail(
    /auto_confirm_on_fallback = true nobody/,
    listing(
      { auto_confirm_on_fallback: YES },
      when((sent) => unaskable(sent) && given('auto_confirm_on_fallback', true)(sent), sends),
    ),
    DECLARED,
  ),
  'no such argument': notApplicable(/named like a yes/, (_, honest) => honest()),
});

const URL_PAGE = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Decide.', url: 'https://a.example/1' },
};
const NOTED = { arguments: { to: 'bob', note: 'lunch' }, kind: 'tool', name: 'send' } as const;
/** Puts the note of the call into its question, as `shown` renders it. */
const noting = (shown: (note: string) => string): Twist =>
  listing({ to: { enum: ['bob', 'carol'] }, note: { type: 'string' } }, (...call) => {
    const note = String(call[0].params.arguments?.note);
    return tool({ ...formOf('sure', `Send it with ${shown(note)}?`) }, isTrue)(...call);
  });
const NOTE = { ...answers(true), operation: NOTED };

ways('consent.blind', {
  'a page that may say more': undecided(
    /does not open the page, which may say more/,
    tool(URL_PAGE, any),
    DECLARED,
  ),
  'an argument that is new in each call, and named, is right': pass(
    /differs for other arguments/,
    noting((note) => note),
    { ...NOTE, vary: 'note', otherArguments: { to: 'bob', note: 'dinner' } },
  ),
  'a long argument whose end is cut off': fail(
    /^Two long values of 'note' that end differently got the same question/,
    noting((note) => note.slice(0, 100)),
    { ...NOTE, otherArguments: { to: 'bob', note: 'dinner' } },
  ),
  'a long argument whose middle is cut out is right': pass(
    /differs for other arguments/,
    noting((note) => `${note.slice(0, 20)}…${note.slice(-20)}`),
    { ...NOTE, otherArguments: { to: 'bob', note: 'dinner' } },
  ),
  'an argument that is new in each call, and not named': fail(
    /got a question with the same text/,
    tool(formOf('sure', 'Really?'), isTrue),
    { ...NOTE, vary: 'note', otherArguments: { to: 'bob', note: 'dinner' } },
  ),
  'a tool without arguments': notApplicable(/^it takes no arguments$/, listing({}, untwisted), {
    operation: { ...NOTED, arguments: {} },
  }),
  'arguments with which nothing is asked': undecided(
    /asked nothing: error -32602/,
    when(given('to', 'carol'), refuses(-32602)),
    { otherArguments: { to: 'carol' } },
  ),
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped.
const HIDDEN = /[\n\u001b\u202e]/g;
const NEITHER = /[\n\u202e]/g;
ways('consent.spoofed', {
  'a bidirectional mark': fail(
    /^A bidirectional mark/,
    noting((note) => note.replaceAll('\n', ' ')),
    NOTE,
  ),
  'a control character': fail(
    /^A control character/,
    noting((note) => note.replace(NEITHER, ' ')),
    NOTE,
  ),
  'a zero-width character': fail(
    /^A zero-width character/,
    noting((note) => note.replace(HIDDEN, ' ')),
    NOTE,
  ),
  'an escape is right': pass(
    /0 were rejected and 4 asked/,
    noting((note) => encodeURIComponent(note)),
    NOTE,
  ),
});
