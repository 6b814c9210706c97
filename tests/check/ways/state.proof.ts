/** Altered, misplaced and readable state: each variant of a fault is found alone, without false findings. */
import type { Answer, Sent, ServerData, Twist } from '../scripted.test-support.ts';
import { formOf, lists, refuses, says } from '../scripted.test-support.ts';
import {
  advice,
  asked,
  asking,
  DIFFERENT,
  early,
  fail,
  insteadOfRefusal,
  isCall,
  isRetry,
  pass,
  SECOND_STAGE,
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
const refusesWith = (message: string): Answer => ({ error: { code: -32602, message } });
const otherWay = (sent: Sent): boolean => isRetry(sent) && isOther(sent);
const otherFirst = (sent: Sent): boolean => isOther(sent) && !isRetry(sent);

const isToken = (state: unknown): boolean => /^[0-9a-f-]{36}$/.test(String(state));
/** Asks for an answer that only a call under way needs: the server took the state. */
const GOES_ON = asking(SECOND_STAGE);
const withSecondAnswer = (sent: Sent): boolean => valued(sent, 'sure') !== undefined;
const otherEnd = (sent: Sent): boolean =>
  otherWay(sent) && isToken(sent.params.requestState) && withSecondAnswer(sent);
const START_AGAIN = asked({ again: formOf('note', 'It has expired. Start again?') });
/** Begins again at a state that it does not take. Its first question names the arguments and the caller. */
const begins =
  (before = ''): Twist =>
  (sent, honest, world) => {
    const answer = insteadOfRefusal(asking())(sent, honest, world);
    const of = `${before}For ${sent.params.arguments?.to}, ${sent.principal}: what`;
    return isCall(sent) || sent.params.name === 'refund'
      ? JSON.parse(JSON.stringify(answer).replace('What is account', `${of} is account`))
      : answer;
  };
const BEGINS = begins();
const BEGINS_IN_WORDS: Twist = (sent, honest, world) =>
  begins(isRetry(sent) ? 'It has expired. ' : '')(sent, honest, world);

for (const id of ['state.other-arguments', 'state.other-principal'])
  ways(id, {
    'the question of its own round again': warn(/accepted with .*: asked sure/, when(otherEnd, GOES_ON)),
    'the first question, in other words': pass(/: asked account/, BEGINS_IN_WORDS),
    'a question that nonsense gets too': pass(/: asked again/, insteadOfRefusal(START_AGAIN)),
    'an effect behind a refusal': warn(/and the probe changed/, when(otherWay, insteadOfRefusal(writesToo))),
    'no answer': undecided(/the connection failed/, when(otherWay, insteadOfRefusal('hang-up'))),
    'an honest call that is rejected there as well': undecided(
      /^an honest call with .* failed: error -32603/,
      when(otherFirst, refuses(-32603)),
      { otherArguments: { to: 'carol' } },
    ),
  });

const fromNobody = (sent: Sent): boolean => isRetry(sent) && sent.principal === 'nobody';
const asAlice: Twist = (sent, honest) => honest({ ...sent, principal: 'alice' });

ways('state.other-principal', {
  'nobody, where only a header is compared': warn(
    /accepted with no credentials: asked sure/,
    when(fromNobody, asAlice),
  ),
  'nobody, who is not served': pass(
    /./,
    when(({ principal }) => principal === 'nobody', { text: '', status: 401 }),
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
  'a question that no first request asks': warn(
    /accepted with tool refund: asked reason/,
    when(
      ({ params }) => params.name === 'refund' && isToken(params.requestState),
      asked({ reason: formOf('memo') }),
    ),
    refund({ to: 'bob' }),
  ),
  'the first question again': pass(/: asked account/, BEGINS, refund({ to: 'bob' })),
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
const read =
  (state: (sent: Sent, world: ServerData) => unknown): Twist =>
  (sent, honest, world) => {
    const requestState = state(sent, world);
    return requestState === undefined
      ? honest()
      : honest({ ...sent, params: { ...sent.params, requestState } });
  };
const readInside = read(({ params }) => (params.requestState as { token?: string })?.token);

/** Keeps the payee in plain state. `isOwn`: whether the state's payee may be that of the call. */
const plain = (isOwn: (payee: unknown, called: unknown) => boolean): Twist =>
  when(isCall, ({ params: { requestState, inputResponses, ...params } }, _honest, world) => {
    const { to } = params.arguments ?? {};
    if (requestState === undefined)
      return {
        result: {
          resultType: 'input_required',
          inputRequests: { sure: formOf('sure') },
          requestState: JSON.stringify({ to }),
        },
      };
    const payee = /^\{"to":"(\w+)"\}$/.exec(String(requestState))?.[1];
    if (payee === undefined || !isOwn(payee, to)) return refuses(-32602);
    if (inputResponses?.sure?.content?.value !== true) return says('Nothing was sent.');
    world.effects++;
    return says('Sent.');
  });

ways('state.forged', {
  'another payee, where the probe counts': fail(
    /to = "carol" in place of "bob"\) was accepted: .*, and the probe changed.* does not say for which value/,
    plain(() => true),
  ),
  'a payee that is compared is right': pass(
    /rejected/,
    plain((payee, called) => payee === called),
  ),
});

// Only tampered state. If all nonsense state had this result, it would be a refusal.
const tampered = presents((state) => String(state).length === 36 && !isToken(state));
const isHuge = presents((state) => String(state).length > 100_000);

const tamperedLater = (sent: Sent): boolean => tampered(sent) && withSecondAnswer(sent);

ways('state.tampered', {
  'the question of its own round again': advice(
    /accepted: .*is that of an honest call/,
    when(tamperedLater, GOES_ON),
  ),
  'the first question again': pass(/^(\d+) of \1 /, BEGINS),
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
const ofMallory = (sent: Sent): boolean => presents(isToken)(sent) && sent.principal === 'mallory';
const toCarol = (sent: Sent): boolean => presents(isToken)(sent) && sent.params.arguments?.to === 'carol';

ways('state.oracle', {
  'a server that begins again tells nothing': pass(/read the same/, BEGINS),
  'a server that names the arguments tells nothing': pass(
    /read the same/,
    insteadOfRefusal((sent) => refusesWith(`That is no call of ${sent.params.arguments?.to}.`)),
  ),
  'a malformed one': advice(/and a malformed state to/, when(presentsJust('mrtr-check'), refuses(-32600))),
  'a tampered one': advice(/a tampered state came to/, when(tamperedAlone, OTHER_WORDS)),
  "another principal's": advice(/^another principal's state came to/, when(ofMallory, OTHER_WORDS)),
  'other arguments': advice(/^a state with other arguments came to/, when(toCarol, OTHER_WORDS)),
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

/** Takes a state that is older than a second for one that is under way. */
function forgetsTime(answer: Answer | Twist): Twist {
  const issued = new Map<unknown, number>();
  return (sent, honest, world) => {
    const { requestState } = sent.params;
    const isOld = isRetry(sent) && performance.now() - (issued.get(requestState) ?? Infinity) > 1000;
    const given = isOld ? when(() => true, answer)(sent, honest, world) : honest();
    if (typeof given === 'object' && 'result' in given)
      issued.set(given.result.requestState, performance.now());
    return given;
  };
}

ways('state.expired', {
  'the question of its own round again': warn(/accepted 2 s after/, forgetsTime(GOES_ON), { ttlSeconds: 1 }),
  'the first question again': pass(/ after 2 s: asked account/, forgetsTime(asking()), { ttlSeconds: 1 }),
});

ways('state.size', {
  'a round that adds too much': advice(/Round 2 adds \d+ bytes to the state for \d+ bytes/, growing),
  'two kibibytes and one': advice(/The state of round 1 has 2049 bytes/, padded(2013)),
  'two kibibytes are right': pass(/at most 2048 bytes/, padded(2012)),
});
