/** Answers that belong elsewhere, do not fit, or are missing: each way alone is found, and what is no fault is not. */
import { type Answer, asks, refuses, type Sent, says, type Twist } from '../scripted.test-support.ts';
import {
  actions,
  early,
  FRESH,
  hangUp,
  isRetry,
  valued,
  ways,
  when,
  writesToo,
} from './ways.test-support.ts';

ways('answer.unasked', [
  [
    'the first question is skipped',
    'advice',
    /skipped: asked sure/,
    when(early, (_sent, _honest, world) => asks(world, { ...FRESH, stage: 1 })),
  ],
  [
    'an effect behind a refusal',
    'advice',
    /and the probe changed/,
    when(early, (sent, _honest, world) => writesToo(sent, () => refuses(-32602), world)),
  ],
  ['a refusal is right', 'pass', /error -32602/, when(early, () => refuses(-32602))],
  ['no answer', 'could-not-run', /the connection failed/, when(early, hangUp)],
]);

/** Goes on as if the questions of this round had been answered. */
const goingOn = (sent: Sent, honest: Parameters<Twist>[1]): Answer => {
  const accept = (value: unknown) => ({ action: 'accept', content: { value } });
  const inputResponses = { account: accept('checking'), sure: accept(true), memo: accept('lunch') };
  return honest({ ...sent, params: { ...sent.params, inputResponses } });
};

ways('answer.other-round', [
  [
    'a late one',
    'warn',
    /the answers of round 1 in the last round\) was accepted/,
    when((sent) => isRetry(sent) && actions(sent) === 'account accept', goingOn),
  ],
]);
ways('answer.other-key', [
  [
    'an effect behind the question',
    'warn',
    /and the probe changed/,
    when((sent) => 'sure-mrtr-check' in (sent.params.inputResponses ?? {}), writesToo),
  ],
]);

const misfit = (sent: Sent): boolean => isRetry(sent) && valued(sent, 'memo') === '';

ways('answer.invalid', [
  ['an effect behind the question', 'warn', /and the probe changed/, when(misfit, writesToo)],
  [
    'another end without an effect is right',
    'pass',
    /went on without the effect/,
    when(misfit, () => says('Sent without a memo.')),
  ],
  ['no answer', 'could-not-run', /got no answer/, when(misfit, hangUp)],
]);
/** The next question comes after a refusal too. Only one without content is remembered. */
function keptRefusal(action: string): Twist {
  const refused = new Set<unknown>();
  return (sent, honest, world) => {
    const { requestState } = sent.params;
    if (refused.has(requestState)) return says('Nothing was sent.');
    if (actions(sent) !== `account ${action}`) return honest();
    const answer = asks(world, { ...FRESH, call: {}, stage: 1, answers: { account: 'checking' } });
    const { result = {} } = answer as { readonly result?: Record<string, unknown> };
    if (valued(sent, 'account') === undefined) refused.add(result.requestState);
    return answer;
  };
}

for (const action of ['decline', 'cancel'])
  ways('answer.refusal-with-content', [
    [
      `${action} alone`,
      'warn',
      new RegExp(`refused with ${action}`),
      when(
        (sent) =>
          actions(sent).includes(action) && (valued(sent, 'sure') ?? valued(sent, 'account')) !== undefined,
        goingOn,
      ),
    ],
    [
      `${action} counts at the end, but for content`,
      'warn',
      new RegExp(`'account' refused with ${action}, .*, and the probe changed`),
      keptRefusal(action),
    ],
  ]);

const bare = (sent: Sent): boolean => isRetry(sent) && sent.params.inputResponses === undefined;
/** The first answer of a round comes alone. */
const alone =
  (key: string, twist: Twist): Twist =>
  (sent, honest, world) => {
    const known = Object.keys(world.states.get(String(sent.params.requestState))?.answers ?? {}).join();
    const now = Object.keys(sent.params.inputResponses ?? {}).join();
    return known === 'account' && now === key ? twist(sent, honest, world) : honest();
  };
/** After such a retry the same question comes again and again. */
function stuck(picked: (sent: Sent) => boolean): Twist {
  let times = 0;
  return when(
    (sent) => picked(sent) || (times > 0 && times < 5 && isRetry(sent)),
    (_sent, _honest, world) => {
      times++;
      return asks(world, FRESH);
    },
  );
}

ways('answer.missing', [
  ['an effect', 'warn', /had an effect/, when(bare, writesToo)],
  ['the end', 'warn', /was not asked again: completed/, when(bare, () => says('Sent.'))],
  ['a call that does not end', 'warn', /but the call did not end/, stuck(bare)],
  ['no answer', 'could-not-run', /got no answer/, when(bare, hangUp)],
]);
for (const key of ['sure', 'memo'])
  ways('answer.partial', [
    [
      `an error after ${key} alone`,
      'warn',
      new RegExp(`'${key}' alone was not asked again: error`),
      alone(key, () => refuses(-32602)),
    ],
    [`an effect after ${key} alone`, 'warn', /had an effect/, alone(key, writesToo)],
  ]);
