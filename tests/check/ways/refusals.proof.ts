/** Users who say no, in every way in which that can be forgotten: each way alone is found, and what is no fault is not. */
import { formOf, says, type Twist } from '../scripted.test-support.ts';
import {
  actions,
  acts,
  advice,
  asked,
  asking,
  fail,
  pass,
  refusing,
  SECOND_STAGE,
  undecided,
  ways,
  when,
  writesToo,
  writing,
} from './ways.test-support.ts';

const declinedTwice: Twist = (...call) => {
  const answers = { account: 'checking', sure: true };
  if (actions(call[0]) === 'sure accept,memo decline') return asking({ stage: 1, answers })(...call);
  return actions(call[0]) === 'memo decline' ? writing(says('Sent.'))(...call) : says('Nothing was sent.');
};
const WHILE_ANSWERED =
  /After a decline of 'memo' alone the server asked memo: .* when that was answered: completed/;
const offering: Twist = (...call) => {
  if (refusing('decline')(call[0])) return asked({ offer: formOf('offer', 'Something else, then?') });
  return when(acts('offer accept'), writing(says('Sent.')))(...call);
};

ways('refusal.no-effect', {
  'after a cancel, and an answer to the next question': fail(
    /After a cancel of question 1 the server asked sure: .*, and the probe changed when that was answered/,
    when(acts('account cancel'), asking(SECOND_STAGE)),
  ),
  'after a decline that is repeated': fail(
    WHILE_ANSWERED,
    when((sent) => actions(sent).endsWith('memo decline'), declinedTwice),
  ),
  'an effect after a yes to something new is right': pass(/decline: asked offer/, offering),
  'after a cancel': fail(/After a cancel of question 1/, when(acts('account cancel'), writesToo)),
  'a decline of the last question': fail(/of question 2/, when(acts('sure decline,memo decline'), writesToo)),
  'of one of two': fail(/After a decline of 'memo' alone/, when(acts('sure accept,memo decline'), writesToo)),
  'no answer': undecided(/decline of question 1 got no answer/, when(refusing('decline'), 'hang-up')),
});

/** A new question each time, so that no two are the same. */
const nagging = (action: string): Twist => {
  let times = 0;
  return when(refusing(action), () =>
    asked({ account: formOf('account', `Really? ${'So? '.repeat(++times)}`) }),
  );
};

for (const action of ['decline', 'cancel'])
  ways(`refusal.${action}-ends`, {
    'the first question again': advice(/asked again: account/, when(refusing(`account ${action}`), asking())),
    'the last again': advice(/asked again: sure/, when(refusing(`sure ${action}`), asking({ stage: 1 }))),
    'always a new question': advice(/After 10 refusals .* still asks/, nagging(action)),
    'no answer': undecided(/the connection failed/, when(refusing(action), 'hang-up')),
  });

ways('refusal.rounds-bounded', {
  'no answer': undecided(
    /the connection failed/,
    when(
      (sent) => Object.keys(sent.params.inputResponses?.account?.content ?? { a: 1 }).length === 0,
      'hang-up',
    ),
  ),
});
