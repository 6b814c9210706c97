/** Altered, misplaced and readable state: each variant of a fault is found alone, without false findings. */
import type { Answer, Sent, ServerData, Twist } from '../scripted.test-support.ts';
import { lists, refuses, says } from '../scripted.test-support.ts';
import {
  advice,
  DIFFERENT,
  early,
  fail,
  insteadOfRefusal,
  isCall,
  isRetry,
  pass,
  SHORT,
  undecided,
  valued,
  warn,
  ways,
  when,
  writesToo,
  writing,
} from './ways.test-support.ts';

const isOther = (sent: Sent): boolean =>
  isCall(sent) && (sent.principal === 'mallory' || sent.params.arguments?.to === 'carol');
const otherWay = (sent: Sent): boolean => isRetry(sent) && isOther(sent);
const otherFirst = (sent: Sent): boolean => isOther(sent) && !isRetry(sent);

for (const id of ['state.other-arguments', 'state.other-principal'])
  ways(id, {
    'an effect behind a refusal': warn(/and the probe changed/, when(otherWay, insteadOfRefusal(writesToo))),
    'no answer': undecided(/the connection failed/, when(otherWay, insteadOfRefusal('hang-up'))),
    'an honest call that is rejected there as well': undecided(
      /^an honest call with .* failed: error -32603/,
      when(otherFirst, refuses(-32603)),
      { otherArguments: { to: 'carol' } },
    ),
  });

/** Binds state to its arguments but not to its tool, so the other tool accepts it with those arguments. */
const unbound: Twist = (sent, honest) => {
  const { name, requestState } = sent.params;
  return name === 'refund' && requestState
    ? honest({ ...sent, params: { ...sent.params, name: 'send' } })
    : honest();
};
const refund = (args: Sent['params']['arguments'] = {}) =>
  ({ otherOperation: { kind: 'tool', name: 'refund', arguments: args } }) as const;
const refusesOwn = when(
  ({ params }) => params.name === 'refund' && params.arguments?.to === 'bob',
  refuses(-32603),
);

const listing = (inputSchema: object): Answer =>
  lists(...['send', 'count'].map((name) => ({ name, inputSchema: {} })), { name: 'refund', inputSchema });
const WHY = { type: 'object', properties: { to: {}, why: { type: 'string' } }, required: ['to', 'why'] };
const LISTS_MORE = listing(WHY);
const LISTS_OTHERS = listing({
  ...WHY,
  required: ['why'],
  properties: { why: {} },
  additionalProperties: false,
});

ways('state.other-tool', {
  'more arguments than it takes itself': warn(
    /accepted with tool refund: asked sure/,
    (sent, honest, world) => (sent.method === 'tools/list' ? LISTS_MORE : unbound(sent, honest, world)),
    refund(),
  ),
  'none that fit both': pass(
    /rejected: error -32602.*with other arguments/,
    when(({ method }) => method === 'tools/list', LISTS_OTHERS),
    refund(),
  ),
  'others, where those are rejected': pass(/rejected: error -32602/, refusesOwn, refund({ to: 'carol' })),
  'none that is served': undecided(
    /an honest call with tool refund failed/,
    refusesOwn,
    refund({ to: 'bob' }),
  ),
});

const presents = (picked: (state: unknown) => boolean) => (sent: Sent) =>
  isRetry(sent) && picked(sent.params.requestState);
const presentsJust = (state: string) => presents((one) => one === state);
const isToken = (state: unknown): boolean => /^[0-9a-f-]{36}$/.test(String(state));
const read =
  (state: (sent: Sent, world: ServerData) => unknown): Twist =>
  (sent, honest, world) => {
    const requestState = state(sent, world);
    return requestState === undefined
      ? honest()
      : honest({ ...sent, params: { ...sent.params, requestState } });
  };
const readInside = read(({ params }) => (params.requestState as { token?: string })?.token);

// Only tampered state. If all nonsense state had this result, it would be a refusal.
const tampered = presents((state) => String(state).length === 36 && !isToken(state));
const isHuge = presents((state) => String(state).length > 100_000);

ways('state.tampered', {
  'another result without the effect': advice(
    /<redacted>\."\. It had no effect\./,
    when(tampered, DIFFERENT),
  ),
  'one, and no probe': fail(/accepted: completed/, when(tampered, DIFFERENT), { probe: undefined } as never),
  'another result with an effect': fail(/and the probe changed/, when(tampered, writing(DIFFERENT))),
  'an effect behind a refusal': fail(/probe changed/, when(presents(isToken), insteadOfRefusal(writesToo))),
});
ways('state.malformed', {
  'HTTP 500': advice(/empty string .* HTTP 500/, when(presentsJust(''), { text: 'oops', status: 500 })),
  'no answer': fail(/a NUL .* got no answer: no answer in/, when(presentsJust('\0'), 'silence'), SHORT),
  'one that is too long may be cut off': pass(/rejected/, when(isHuge, 'hang-up')),
  'an object that holds the state': advice(/The result is that of an honest call/, readInside),
  'a prototype': fail(/\("__proto__"\) was accepted/, when(presentsJust('__proto__'), writing(DIFFERENT))),
  'the end of the server': fail(/does not answer an honest call/, dying()),
});

/** Answers no call after the last malformed state, which is a list. */
function dying(): Twist {
  let dead = 0;
  return (sent, honest) => {
    const over = dead > 1 && isCall(sent);
    if (Array.isArray(sent.params.requestState)) dead++;
    return over ? 'hang-up' : honest();
  };
}

const stateless = (sent: Sent): boolean => early(sent) && valued(sent, 'account') === undefined;

ways('state.dropped', {
  'an effect behind a refusal': advice(/was accepted/, when(stateless, writing(refuses(-32602)))),
  'the end': advice(/was accepted: completed/, when(stateless, says('Sent.'))),
  'no answer': undecided(/got no answer/, when(stateless, 'hang-up')),
});

const OTHER_WORDS = insteadOfRefusal(refuses(-32600));
const tamperedAlone = ({ params, principal }: Sent): boolean =>
  principal === 'alice' && params.arguments?.to === 'bob' && params.requestState !== 'mrtr-check';
const ofMallory = (sent: Sent): boolean => isRetry(sent) && sent.principal === 'mallory';
const toCarol = (sent: Sent): boolean => isRetry(sent) && sent.params.arguments?.to === 'carol';

ways('state.oracle', {
  'a malformed one': advice(/a malformed state to/, when(presentsJust('mrtr-check'), refuses(-32600))),
  'a tampered one': advice(/a tampered state came to/, when(tamperedAlone, OTHER_WORDS)),
  "another principal's": advice(/another principal's state to/, when(ofMallory, OTHER_WORDS)),
  'other arguments': advice(/a state with other arguments to/, when(toCarol, OTHER_WORDS)),
});

/** Writes state differently. The server reads only its end. */
const written = (write: (token: string, sent: Sent) => string): Twist => {
  const back = read(({ params }) =>
    typeof params.requestState === 'string' ? params.requestState.slice(-36) : undefined,
  );
  return (sent, honest, world) => {
    const answer = back(sent, honest, world);
    if (typeof answer !== 'object' || !('result' in answer) || answer.result.requestState === undefined)
      return answer;
    return { result: { ...answer.result, requestState: write(String(answer.result.requestState), sent) } };
  };
};
const padded = (more: number): Twist => written((token) => 'A'.repeat(more) + token);
const growing = written((token, sent) => `${isRetry(sent) ? 'A'.repeat(1600) : ''}${token}`);

ways('state.size', {
  'a round that adds too much': advice(/Round 2 adds \d+ bytes to the state for \d+ bytes/, growing),
  'two kibibytes and one': advice(/The state of round 1 has 2049 bytes/, padded(2013)),
  'two kibibytes are right': pass(/at most 2048 bytes/, padded(2012)),
});
