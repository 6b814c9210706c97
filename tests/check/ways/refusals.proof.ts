/** Users who say no, in every way in which that can be forgotten: each way alone is found, and what is no fault is not. */
import {
  type Answer,
  asks,
  formOf,
  type Sent,
  says,
  type Twist,
  type World,
} from '../scripted.test-support.ts';
import { actions, asked, FRESH, ways, when, writesToo } from './ways.test-support.ts';

/** Asks for the memo alone, and then sends without one. */
function declinedTwice(sent: Sent, _honest: unknown, world: World): Answer {
  if (actions(sent) === 'sure accept,memo decline')
    return asks(world, { ...FRESH, call: {}, stage: 1, answers: { account: 'checking', sure: true } });
  return actions(sent) === 'memo decline'
    ? writesToo(sent, () => says('Sent.'), world)
    : says('Nothing was sent.');
}
const WHILE_ANSWERED =
  /After a decline of 'memo' alone the server asked memo: .* when that was answered: completed/;

/** The answers that count where a refusal is forgotten: the next question comes, and its answer has the effect. */
const next = (world: World): Answer =>
  asks(world, { ...FRESH, call: {}, stage: 1, answers: { account: 'checking' } });
const asksNew: Twist = () => asked({ offer: formOf('offer', 'Something else, then?') });

ways('refusal.no-effect', [
  [
    'after a cancel, and an answer to the next question',
    'fail',
    /After a cancel of question 1 the server asked sure: .*, and the probe changed when that was answered/,
    when(
      (sent) => actions(sent) === 'account cancel',
      (_sent, _honest, world) => next(world),
    ),
  ],
  [
    'after a decline that is repeated',
    'fail',
    WHILE_ANSWERED,
    when((sent) => actions(sent).endsWith('memo decline'), declinedTwice),
  ],
  [
    'an effect after a yes to something new is right',
    'pass',
    /decline: asked offer/,
    (sent, honest, world) => {
      if (actions(sent).includes('decline')) return asksNew(sent, honest, world);
      return actions(sent) === 'offer accept' ? writesToo(sent, () => says('Sent.'), world) : honest();
    },
  ],
  [
    'after a cancel',
    'fail',
    /After a cancel of question 1/,
    when((sent) => actions(sent) === 'account cancel', writesToo),
  ],
  [
    'after a decline of the last question',
    'fail',
    /After a decline of question 2/,
    when((sent) => actions(sent) === 'sure decline,memo decline', writesToo),
  ],
  [
    'after a decline of one of two',
    'fail',
    /After a decline of 'memo' alone/,
    when((sent) => actions(sent) === 'sure accept,memo decline', writesToo),
  ],
  [
    'no answer',
    'could-not-run',
    /decline of question 1 got no answer/,
    when(
      (sent) => actions(sent).includes('decline'),
      () => 'hang-up',
    ),
  ],
]);

const ignoring = (key: string, action: string): Twist => {
  return when(
    (sent) => actions(sent).includes(`${key} ${action}`),
    (_sent, _honest, world) => asks(world, { ...FRESH, stage: key === 'account' ? 0 : 1 }),
  );
};
/** A new question each time, so that no two are the same. */
const nagging = (action: string): Twist => {
  let times = 0;
  return when(
    (sent) => actions(sent).includes(action),
    () => asked({ account: formOf('account', `Really? ${'So? '.repeat(++times)}`) }),
  );
};

for (const action of ['decline', 'cancel'])
  ways(`refusal.${action}-ends`, [
    [
      'the first question again',
      'advice',
      /the same question was asked again: account/,
      ignoring('account', action),
    ],
    [
      'the last question again',
      'advice',
      /the same question was asked again: sure/,
      ignoring('sure', action),
    ],
    ['always a new question', 'advice', /After 10 refusals .* still asks/, nagging(action)],
    [
      'no answer',
      'could-not-run',
      /the connection failed/,
      when(
        (sent) => actions(sent).includes(action),
        () => 'hang-up',
      ),
    ],
  ]);

ways('refusal.rounds-bounded', [
  [
    'no answer',
    'could-not-run',
    /the connection failed/,
    when(
      (sent) => Object.keys(sent.params.inputResponses?.account?.content ?? { a: 1 }).length === 0,
      () => 'hang-up',
    ),
  ],
]);
