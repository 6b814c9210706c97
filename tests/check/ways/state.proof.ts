/** State that was altered, belongs elsewhere, or tells too much: each way alone is found, and what is no fault is not. */
import { refuses, type Sent, says, type Twist, type World } from '../scripted.test-support.ts';
import {
  DIFFERENT,
  early,
  hangUp,
  insteadOfRefusal,
  isCall,
  isRetry,
  SHORT,
  valued,
  ways,
  when,
  writesToo,
} from './ways.test-support.ts';

const isOther = (sent: Sent): boolean =>
  isCall(sent) && (sent.principal === 'mallory' || sent.params.arguments?.to === 'carol');
const otherWay = (sent: Sent): boolean => isRetry(sent) && isOther(sent);

for (const id of ['state.other-arguments', 'state.other-principal'])
  ways(id, [
    [
      'an effect behind the refusal',
      'warn',
      /and the probe changed/,
      when(otherWay, insteadOfRefusal(writesToo)),
    ],
    [
      'no answer',
      'could-not-run',
      /the connection failed/,
      when(
        otherWay,
        insteadOfRefusal(() => 'hang-up'),
      ),
    ],
    [
      'an honest call that is refused there as well',
      'could-not-run',
      /^an honest call with .* failed: error -32603/,
      when(
        (sent) => isOther(sent) && !isRetry(sent),
        () => refuses(-32603),
      ),
      { otherArguments: { to: 'carol' } },
    ],
  ]);

const presents = (picked: (state: unknown) => boolean) => (sent: Sent) =>
  isRetry(sent) && picked(sent.params.requestState);
const isToken = (state: unknown): boolean => /^[0-9a-f-]{36}$/.test(String(state));
/** Takes this in place of the state that came. */
const read =
  (state: (sent: Sent, world: World) => unknown): Twist =>
  (sent, honest, world) => {
    const requestState = state(sent, world);
    return requestState === undefined
      ? honest()
      : honest({ ...sent, params: { ...sent.params, requestState } });
  };
const nearly = ({ params }: Sent, { states }: World): string | undefined =>
  [...states.keys()].findLast((token) => token.slice(0, -1) === String(params.requestState).slice(0, -1));

// Not every state that means nothing: where that comes to a result too, it is how the server refuses.
const tampered = presents((state) => String(state).length === 36 && !isToken(state));

ways('state.tampered', [
  ['a character that counts for nothing', 'advice', /The result is that of an honest call/, read(nearly)],
  [
    'another result without the effect',
    'advice',
    /mallory\."\. It had no effect\./,
    when(tampered, () => DIFFERENT),
  ],
  [
    'another result, and no probe',
    'fail',
    /was accepted: completed/,
    when(tampered, () => DIFFERENT),
    { probe: undefined } as never,
  ],
  [
    'another result with an effect',
    'fail',
    /and the probe changed/,
    when(tampered, (sent, _honest, world) => writesToo(sent, () => DIFFERENT, world)),
  ],
  [
    'an effect behind the refusal',
    'fail',
    /and the probe changed/,
    when(presents(isToken), insteadOfRefusal(writesToo)),
  ],
]);
ways('state.aliased', [
  [
    'whitespace',
    'advice',
    /a space before it, a line break after it/,
    read(({ params }) =>
      isToken(String(params.requestState).trim()) ? String(params.requestState).trim() : undefined,
    ),
  ],
]);
ways('state.malformed', [
  [
    'HTTP 500',
    'advice',
    /the empty string in place of the state came to HTTP 500/,
    when(
      presents((state) => state === ''),
      () => ({ text: 'oops', status: 500 }),
    ),
  ],
  [
    'no answer',
    'fail',
    /a NUL in place of the state got no answer: no answer in/,
    when(
      presents((state) => state === '\0'),
      () => 'silence',
    ),
    SHORT,
  ],
  [
    'a lost connection',
    'fail',
    /a list in place of the state got no answer/,
    when(presents(Array.isArray), hangUp),
  ],
  [
    'one that is too long may be cut off',
    'pass',
    /refused/,
    when(
      presents((state) => String(state).length > 100_000),
      hangUp,
    ),
  ],
  [
    'an object that holds the state',
    'advice',
    /The result is that of an honest call/,
    read(({ params }) => (params.requestState as { token?: string })?.token),
  ],
  [
    'the prototype of an object',
    'fail',
    /\("__proto__"\) was accepted/,
    when(
      presents((state) => state === '__proto__'),
      (sent, _honest, world) => writesToo(sent, () => DIFFERENT, world),
    ),
  ],
  ['the end of the server', 'fail', /does not answer an honest call/, dying()],
]);

/** It answers no call of ours after the last malformed state, which is a list. */
function dying(): Twist {
  let dead = 0;
  return (sent, honest) => {
    const over = dead > 1 && isCall(sent);
    if (Array.isArray(sent.params.requestState)) dead++;
    return over ? 'hang-up' : honest();
  };
}

const stateless = (sent: Sent): boolean => early(sent) && valued(sent, 'account') === undefined;

ways('state.dropped', [
  [
    'an effect behind a refusal',
    'advice',
    /was accepted/,
    when(stateless, (sent, _honest, world) => writesToo(sent, () => refuses(-32602), world)),
  ],
  ['the end', 'advice', /was accepted: completed/, when(stateless, () => says('Sent.'))],
  ['no answer', 'could-not-run', /got no answer/, when(stateless, hangUp)],
]);
ways('state.oracle', [
  [
    'a malformed one',
    'advice',
    /a malformed state to/,
    when(
      presents((state) => state === 'mrtr-check'),
      () => refuses(-32600),
    ),
  ],
  [
    'a tampered one',
    'advice',
    /a tampered state came to/,
    when(
      ({ params, principal }) =>
        principal === 'alice' && params.arguments?.to === 'bob' && params.requestState !== 'mrtr-check',
      insteadOfRefusal(() => refuses(-32600)),
    ),
  ],
  [
    "another principal's",
    'advice',
    /another principal's state to/,
    when(
      (sent) => isRetry(sent) && sent.principal === 'mallory',
      insteadOfRefusal(() => refuses(-32600)),
    ),
  ],
  [
    'other arguments',
    'advice',
    /a state with other arguments to/,
    when(
      (sent) => isRetry(sent) && sent.params.arguments?.to === 'carol',
      insteadOfRefusal(() => refuses(-32600)),
    ),
  ],
]);

/** The same server with its state written otherwise. */
const written = (
  write: (token: string, sent: Sent) => string,
  readBack: (state: string) => string,
): Twist => {
  const back = read(({ params }) =>
    typeof params.requestState === 'string' ? readBack(params.requestState) : undefined,
  );
  return (sent, honest, world) => {
    const answer = back(sent, honest, world);
    if (typeof answer !== 'object' || !('result' in answer) || answer.result.requestState === undefined)
      return answer;
    return { result: { ...answer.result, requestState: write(String(answer.result.requestState), sent) } };
  };
};
const encodes = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

ways('state.readable', [
  [
    'JSON',
    'advice',
    /A client can read in the state: \{"to":"bob"\}/,
    written(
      (token) => `${encodes({ to: 'bob' })}.${token}`,
      (state) => state.slice(-36),
    ),
  ],
  [
    'words',
    'advice',
    /A client can read in the state: to bob/,
    written(
      (token) => `to bob|${token}`,
      (state) => state.slice(-36),
    ),
  ],
]);
ways('state.size', [
  [
    'a round that adds too much',
    'advice',
    /Round 2 adds \d+ bytes to the state for \d+ bytes of answers/,
    written(
      (token, sent) => `${isRetry(sent) ? 'A'.repeat(1600) : ''}${token}`,
      (state) => state.slice(-36),
    ),
  ],
  [
    'two kibibytes and one',
    'advice',
    /The state of round 1 has 2049 bytes/,
    written(
      (token) => 'A'.repeat(2013) + token,
      (state) => state.slice(-36),
    ),
  ],
  [
    'two kibibytes are right',
    'pass',
    /at most 2048 bytes/,
    written(
      (token) => 'A'.repeat(2012) + token,
      (state) => state.slice(-36),
    ),
  ],
]);
