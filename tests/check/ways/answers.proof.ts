/** Misplaced, invalid and missing answers, and refusals: each variant of a fault is found alone. */
import { type Answer, formOf, refuses, type Sent, says, type Twist } from '../scripted.test-support.ts';
import {
  actions,
  acts,
  advice,
  asked,
  asking,
  auditing,
  early,
  fail,
  isRetry,
  isSilent,
  notGiven,
  pass,
  refusing,
  SECOND_STAGE,
  undecided,
  valued,
  warn,
  ways,
  when,
  writesToo,
  writing,
} from './ways.test-support.ts';

const DECLARED = { needsConsent: true };
const sendsAtOnce = when(early, writing(says('Sent.')));
ways('answer.unasked', {
  'an effect that needs a yes': fail(
    /completed without asking: .* and the probe changed\. With --needs-consent this is a fail\.$/,
    sendsAtOnce,
    DECLARED,
  ),
  'the end of an honest call, and no probe': advice(
    /: completed: "Sent from checking: lunch\."\. With --needs-consent this is a fail\.$/,
    when(early, says('Sent from checking: lunch.')),
    { probe: undefined },
  ),
  'another end, and no probe': advice(/was sent\."\.$/, when(early, says('Nothing was sent.')), {
    ...DECLARED,
    probe: undefined,
  }),
  'one of which nobody says so': advice(/With --needs-consent this is a fail\.$/, sendsAtOnce),
  'no effect': advice(/completed without asking/, when(early, says('Nothing was sent.')), DECLARED),
  'an effect behind a refusal': advice(/and the probe changed/, when(early, writing(refuses(-32602)))),
  'the next question, whatever every call writes': advice(
    /^The first question was skipped: asked sure: .*; memo: [^,]*\.$/,
    auditing(when(early, asking(SECOND_STAGE))),
  ),
  'no answer': undecided(/the connection failed/, when(early, 'hang-up')),
});

/** Proceeds as if the questions of this round were answered. */
const goingOn: Twist = (sent, honest) => {
  const accept = (value: unknown) => ({ action: 'accept', content: { value } });
  const inputResponses = { account: accept('checking'), sure: accept(true), memo: accept('lunch') };
  return honest({ ...sent, params: { ...sent.params, inputResponses } });
};
const late = (sent: Sent) => isRetry(sent) && acts('account accept')(sent);

ways('answer.other-round', { 'a late one': warn(/in the last round\) was accepted/, when(late, goingOn)) });

const misfit = (sent: Sent): boolean => isRetry(sent) && valued(sent, 'memo') === '';
const unfit = (sent: Sent): boolean =>
  isRetry(sent) && acts('sure accept,memo accept')(sent) && valued(sent, 'memo') !== 'lunch';
const UNSEEN = { probe: undefined };

ways('answer.invalid', {
  'an effect behind the question': warn(/and the probe changed/, when(misfit, writesToo)),
  'another end is right': pass(/went on without the effect/, when(misfit, says('Sent without a memo.'))),
  'an end of another kind, and no probe': notGiven(
    /^--probe was not given: it completed: "Nothing added \(accept\)\.", which reads as a rejection/,
    when(unfit, says('Nothing added (accept).')),
    UNSEEN,
  ),
  'an end that is like an honest one, and no probe': warn(
    /seems accepted, which only a probe of the effect can tell: completed: "Sent from checking: \?\."\.$/,
    when(unfit, says('Sent from checking: ?.')),
    UNSEEN,
  ),
  'the honest end is the example of several, and no probe': warn(
    /was accepted: completed: "Sent from checking: lunch\."/,
    when(unfit, (...call) => (misfit(call[0]) ? says('Sent from checking: ?.') : goingOn(...call))),
    UNSEEN,
  ),
});

/** Asks the next question even after a refusal, and remembers only refusals without content. */
function keptRefusal(action: string): Twist {
  const refused = new Set<unknown>();
  return (sent, honest, world) => {
    if (refused.has(sent.params.requestState)) return says('Nothing was sent.');
    if (actions(sent) !== `account ${action}`) return honest();
    const answer = asking(SECOND_STAGE)(sent, honest, world);
    const { result = {} } = answer as { readonly result?: Record<string, unknown> };
    if (valued(sent, 'account') === undefined) refused.add(result.requestState);
    return answer;
  };
}
const withContent = (action: string) => (sent: Sent) =>
  refusing(action)(sent) && (valued(sent, 'sure') ?? valued(sent, 'account')) !== undefined;

for (const action of ['decline', 'cancel', 'mrtr-check'])
  ways('answer.refusal-with-content', {
    [`${action} alone`]: warn(new RegExp(`refused with ${action}`), when(withContent(action), goingOn)),
    [`${action} counts at the end, but for content`]: warn(
      new RegExp(`'account' refused with ${action}, .*, and the probe changed`),
      keptRefusal(action),
    ),
  });

/** Gives `answer` to a retry of the second round that answers only the question `key`. */
const alone =
  (key: string, answer: Answer): Twist =>
  (sent, honest, world) => {
    const known = Object.keys(world.states.get(String(sent.params.requestState))?.answers ?? {}).join();
    const now = Object.keys(sent.params.inputResponses ?? {}).join();
    return when(() => known === 'account' && now === key, answer)(sent, honest, world);
  };
/** Repeats the same question after such a retry. */
function stuck(picked: (sent: Sent) => boolean): Twist {
  let times = 0;
  const goesOn = (sent: Sent) => picked(sent) || (times > 0 && times < 5 && isRetry(sent));
  return when(goesOn, (sent, honest, world) => {
    times++;
    return asking()(sent, honest, world);
  });
}

const isEmpty = (sent: Sent) => isRetry(sent) && JSON.stringify(sent.params.inputResponses) === '{}';

ways('answer.missing', {
  'an empty object': warn(
    /The retry with empty answers \(`inputResponses: \{\}`\), in round 1, was not asked again: completed: "Nothing/,
    when(isEmpty, says('Nothing was sent.')),
  ),
  'a call that does not end': warn(/but the call did not end/, stuck(isSilent)),
  'no answer': undecided(/got no answer/, when(isSilent, 'hang-up')),
});
for (const key of ['sure', 'memo'])
  ways('answer.partial', {
    [`${key}, error`]: warn(new RegExp(`'${key}' alone was not asked again`), alone(key, refuses(-32602))),
  });

const offering: Twist = (...call) => {
  if (refusing('decline')(call[0])) return asked({ offer: formOf('offer', 'Something else, then?') });
  return when(acts('offer accept'), writing(says('Sent.')))(...call);
};

ways('refusal.no-effect', {
  'after a cancel, and an answer to the next question': fail(
    /After a cancel of question 1 the server asked sure: .*, and the probe changed when that was answered/,
    when(acts('account cancel'), asking(SECOND_STAGE)),
  ),
  'an effect after a yes to something new is right': pass(/decline: asked offer/, offering),
  'the text of an accepted call, and no probe': warn(
    /^A decline of question 2 ended as an honest call does \(completed: "Sent from checking: lunch\."\)/,
    when(refusing('sure decline'), writing(says('Sent from checking: lunch.'))),
    { probe: undefined },
  ),
  'of one of two': fail(/After a decline of 'memo' alone/, when(acts('sure accept,memo decline'), writesToo)),
  'no answer': undecided(/decline of question 1 got no answer/, when(refusing('decline'), 'hang-up')),
});

/** Asks a new question each time. */
const nagging = (action: string): Twist => {
  let times = 0;
  return when(refusing(action), () =>
    asked({ account: formOf('account', `Really? ${'So? '.repeat(++times)}`) }),
  );
};

for (const action of ['decline', 'cancel'])
  ways(`refusal.${action}-ends`, {
    'the last again': advice(/asked again: sure/, when(refusing(`sure ${action}`), asking({ stage: 1 }))),
    'always a new question': advice(/After 10 refusals .* still asks/, nagging(action)),
    'no answer': undecided(/the connection failed/, when(refusing(action), 'hang-up')),
  });

ways('refusal.rounds-bounded', {
  'no answer': undecided(
    /the connection failed/,
    when((sent) => JSON.stringify(sent.params.inputResponses?.account?.content) === '{}', 'hang-up'),
  ),
});
