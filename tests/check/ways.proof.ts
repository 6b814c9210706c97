/** A check looks for a fault in more than one way: each way alone is found, and what is no fault is not. */
import type { RunInputs, Verdict } from '@mrtr/check';
import { describe, expect, it } from 'vitest';
import { checkBare } from './bare.test-support.ts';
import {
  type Answer,
  asks,
  checkTwisted,
  formOf,
  refuses,
  type Sent,
  says,
  type Twist,
} from './scripted.test-support.ts';

/** One way: what the server does, the verdict, and the words that say what was seen. */
type Way = readonly [way: string, verdict: Verdict, words: RegExp, twist: Twist, inputs?: Partial<RunInputs>];

const ways = (id: string, all: readonly Way[]) =>
  describe(id, () => {
    for (const [way, verdict, words, twist, inputs] of all)
      it(`${way}: ${verdict}`, async () => {
        const { checked } = await checkTwisted(twist, [id], inputs);
        expect(checked[0]?.finding.actual).toMatch(words);
        expect(checked[0]?.verdict).toBe(verdict);
      });
  });

const isCall = ({ method, params }: Sent): boolean => method === 'tools/call' && params.name === 'send';
const isRetry = (sent: Sent): boolean => isCall(sent) && sent.params.requestState !== undefined;
const mute = (sent: Sent): boolean => isCall(sent) && Object.keys(sent.params.capabilities).length === 0;
const actions = ({ params }: Sent): string =>
  Object.entries(params.inputResponses ?? {})
    .map(([key, answer]) => `${key} ${answer?.action}`)
    .join();
const when =
  (picked: (sent: Sent) => boolean, otherwise: Twist): Twist =>
  (sent, honest, world) =>
    picked(sent) ? otherwise(sent, honest, world) : honest();
/** The effect, and then the honest answer. */
const writesToo: Twist = (_sent, honest, world) => {
  world.effects++;
  return honest();
};
const asked = (inputRequests: object): Answer => ({
  result: { resultType: 'input_required', inputRequests, requestState: 's' },
});

const NEEDED = { requiredCapabilities: { elicitation: {} } };
const ROOTS = { method: 'roots/list' };
const DIFFERENT = says('It was all sent to mallory.');
const FRESH = { call: {}, stage: 0, answers: {}, about: '["send",{"to":"bob"},"alice"]', tries: 0 };
const SHORT = { timeoutSeconds: 0.3 };

it('the server that nothing is twisted of has no finding', async () => {
  const { checked } = await checkTwisted(
    (_sent, honest) => honest(),
    [
      ...['wire', 'state', 'retry', 'answer', 'refusal', 'capability', 'instance.second', 'effect'],
      ...['instance.replay-elsewhere', 'era'],
    ],
  );
  const found = checked.filter(({ verdict }) =>
    ['fail', 'warn', 'advice', 'could-not-run'].includes(verdict),
  );
  expect(found.map(({ check, finding }) => [check.id, finding.actual])).toEqual([]);
});

ways('capability.undeclared', [
  ['another error', 'fail', /and not -32021/, when(mute, () => refuses(-32600, NEEDED, 400))],
  [
    'no data',
    'fail',
    /without data\.requiredCapabilities/,
    when(mute, () => refuses(-32021, undefined, 400)),
  ],
  [
    'nothing required',
    'fail',
    /without data\.requiredCapabilities/,
    when(mute, () => refuses(-32021, { requiredCapabilities: {} }, 400)),
  ],
  ['a status of 200', 'fail', /HTTP status 200, and not 400/, when(mute, () => refuses(-32021, NEEDED, 200))],
  [
    'HTTP 403 alone',
    'fail',
    /HTTP 403 without a JSON-RPC error/,
    when(mute, () => ({ text: '', status: 403 })),
  ],
  [
    'a request in its stream',
    'fail',
    /was sent the request elicitation\/create/,
    when(mute, (sent) => ({
      stream: true,
      text: [
        { jsonrpc: '2.0', id: 's', ...formOf('account') },
        { jsonrpc: '2.0', id: sent.id, result: { resultType: 'complete', content: [] } },
      ]
        .map((message) => `data: ${JSON.stringify(message)}\n\n`)
        .join(''),
    })),
  ],
  ['no answer at all', 'fail', /no answer in/, when(mute, () => 'silence'), SHORT],
  ['a lost connection', 'could-not-run', /the connection failed/, when(mute, () => 'hang-up')],
  [
    'a question after an empty round',
    'fail',
    /was sent elicitation\/create \('account'\)/,
    when(mute, ({ params }, _honest, world) =>
      params.requestState === 'later'
        ? asks(world, FRESH)
        : { result: { resultType: 'input_required', requestState: 'later' } },
    ),
  ],
  [
    'empty rounds without end',
    'could-not-run',
    /did not stop asking/,
    when(mute, () => ({ result: { resultType: 'input_required', requestState: 'again' } })),
  ],
  [
    'roots are no elicitation',
    'fail',
    /without having declared 'roots'/,
    when(mute, () => asked({ roots: ROOTS })),
  ],
  ['a default is right', 'pass', /completed/, when(mute, () => says('The default was sent.'))],
  [
    'an isError result is right',
    'pass',
    /isError/,
    when(mute, () => ({ result: { resultType: 'complete', isError: true, content: [] } })),
  ],
  [
    'an error in a stream is right',
    'pass',
    /-32021/,
    when(mute, ({ id }) => ({
      stream: true,
      text: `data: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32021, message: 'No.', data: NEEDED } })}\n\n`,
    })),
  ],
]);

const declares = (mode: string) => (sent: Sent) =>
  isCall(sent) && JSON.stringify(sent.params.capabilities.elicitation) === mode;

ways('capability.mode', [
  [
    'a form to a client of URLs',
    'fail',
    /opens URLs alone was sent an elicitation in mode 'form'/,
    when(declares('{"url":{}}'), () => asked({ account: formOf('account') })),
  ],
  [
    'a URL to a client of forms',
    'fail',
    /shows forms alone was sent an elicitation in mode 'url'/,
    when(declares('{}'), () =>
      asked({
        page: {
          method: 'elicitation/create',
          params: { mode: 'url', message: 'In.', url: 'https://a.example' },
        },
      }),
    ),
  ],
  [
    'roots, which both declare',
    'pass',
    /completed/,
    when(declares('{"url":{}}'), (sent) => (isRetry(sent) ? says('Sent.') : asked({ roots: ROOTS }))),
  ],
]);

const elsewhere = (sent: Sent): boolean => isRetry(sent) && sent.instance === 1;

/** A call that went to the other instance in between ends otherwise, and no other one does. */
function crossed(): Twist {
  let away = false;
  return when(isRetry, (sent, honest) => {
    const back = away && sent.instance === 0;
    away = sent.instance === 1;
    const answer = honest();
    return back ? DIFFERENT : answer;
  });
}

ways('instance.second', [
  ['another result', 'fail', /finished the call with another result/, crossed()],
  [
    'a refusal in words',
    'advice',
    /The second instance refused to go on: error -32602: "No\."/,
    when(elsewhere, () => refuses(-32602)),
  ],
  [
    'the question again',
    'advice',
    /asked again, and did not end/,
    when(elsewhere, (_sent, _honest, world) => asks(world, FRESH)),
  ],
  ['no answer', 'could-not-run', /gave no answer: the connection failed/, when(elsewhere, () => 'hang-up')],
]);

ways('refusal.no-effect', [
  [
    'after a cancel',
    'fail',
    /After cancel of question 1/,
    when((sent) => actions(sent) === 'account cancel', writesToo),
  ],
  [
    'after a decline of the last question',
    'fail',
    /After decline of question 2/,
    when((sent) => actions(sent) === 'sure decline,memo decline', writesToo),
  ],
  [
    'after a decline of one of two',
    'fail',
    /After decline of 'memo' alone/,
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
      /the same question was asked again: asked account/,
      ignoring('account', action),
    ],
    [
      'the last question again',
      'advice',
      /the same question was asked again: asked sure/,
      ignoring('sure', action),
    ],
    ['always a new question', 'advice', /After 10 times .* still asks/, nagging(action)],
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

const ending = (sent: Sent): boolean => actions(sent) === 'sure accept,memo accept';

/** The effects of a call stand where `times` says: after its first request, its second, its third. */
const effectsAt = (...times: readonly number[]): Twist => {
  const at = (sent: Sent): number => (ending(sent) ? 2 : actions(sent).includes('account') ? 1 : 0);
  return when(isCall, (sent, honest, world) => {
    const { effects } = world;
    const answer = honest();
    const done = ending(sent) && world.effects === effects;
    world.effects = effects + (done ? 0 : (times[at(sent)] ?? 0));
    return answer;
  });
};

ways('effect.once', [
  ['one in each round', 'advice', /changed 2 times: after request 2, after request 3/, effectsAt(0, 1, 1)],
  ['two at the end', 'advice', /One call adds 2 to the probe/, effectsAt(0, 0, 2)],
  ['one in the middle is right', 'pass', /the probe went from/, effectsAt(0, 1, 0)],
  ['a balance that goes up by five is right', 'pass', /the probe went from/, effectsAt(0, 0, 5)],
]);
ways('effect.before-answer', [
  ['with the question', 'advice', /before anything was answered/, effectsAt(1, 0, 1)],
  ['with the first answer is right', 'pass', /did not change/, effectsAt(0, 1, 0)],
]);
ways('effect.per-round', [
  ['with each question', 'advice', /times the effects of an honest one/, effectsAt(1, 1, 1)],
  [
    'a call that cannot be made longer',
    'not-applicable',
    /cannot be made longer: error -32602/,
    when(
      (sent) => isRetry(sent) && sent.params.inputResponses === undefined,
      () => refuses(-32602),
    ),
  ],
]);

/** What a used state is answered with: the call runs again. */
const again = (picked: (sent: Sent) => boolean): Twist => {
  const seen = new Set<unknown>();
  return when(isRetry, (sent, honest, world) => {
    const { requestState } = sent.params;
    const used = seen.has(requestState);
    seen.add(requestState);
    return used && picked(sent) ? writesToo(sent, honest, world) : honest();
  });
};
const twoTimes = { oneTime: false };

ways('retry.twice', [
  ['a second effect behind the first result', 'fail', /\(2 effects for one approval\)/, again(ending)],
  [
    'a second effect that nobody calls a fault',
    'advice',
    /With --one-time this is a fail/,
    again(ending),
    twoTimes,
  ],
  ['a refusal is right', 'pass', /no second effect/, when(isRetry, refusesUsed())],
]);
ways('instance.replay-elsewhere', [
  [
    'a second effect there',
    'fail',
    /The used approval at the second instance/,
    again((sent) => sent.instance === 1),
  ],
  ['no answer there', 'could-not-run', /the connection failed/, when(elsewhere, () => 'hang-up')],
]);
ways('retry.concurrent', [
  ['none completes', 'could-not-run', /none completed/, crowded()],
  ['a second effect', 'fail', /10 retries at once/, again(ending)],
]);

function refusesUsed(): Twist {
  const seen = new Set<unknown>();
  return ({ params }, honest) => {
    if (seen.has(params.requestState)) return refuses(-32602);
    seen.add(params.requestState);
    return honest();
  };
}

/** The end is refused from the second call on that gets so far, and not while controls are made. */
function crowded(): Twist {
  const ends = new Map<unknown, number>();
  return when(ending, (sent, honest) => {
    const times = (ends.get(sent.params.requestState) ?? 0) + 1;
    ends.set(sent.params.requestState, times);
    return times > 1 || ends.size === 3 ? refuses(-32603) : honest();
  });
}

const isOther = (sent: Sent): boolean =>
  isCall(sent) && (sent.principal === 'mallory' || sent.params.arguments?.to === 'carol');
const otherWay = (sent: Sent): boolean => isRetry(sent) && isOther(sent);

/** Something else where the right server refuses. */
const insteadOfRefusal =
  (otherwise: Twist): Twist =>
  (sent, honest, world) => {
    const answer = honest();
    return typeof answer === 'object' && 'error' in answer ? otherwise(sent, () => answer, world) : answer;
  };

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
      /is not served honestly either/,
      when(
        (sent) => isOther(sent) && !isRetry(sent),
        () => refuses(-32603),
      ),
      { otherArguments: { to: 'carol' } },
    ],
  ]);

ways('state.rolled-back', [
  ['a second effect after the end', 'fail', /worked again after the end/, again(() => true)],
  ['a second effect of a branch', 'fail', /presented a second time before the end/, branching()],
  ['advice, where nobody wants it once', 'advice', /before the end/, branching(), twoTimes],
]);

/** It remembers the states that came, and not the call that they are of. */
function branching(): Twist {
  const came = new Set<unknown>();
  return when(isRetry, (sent, honest, world) => {
    const { requestState } = sent.params;
    const used = world.states.get(String(requestState))?.call.used !== undefined;
    const first = !came.has(requestState);
    came.add(requestState);
    return used && first ? writesToo(sent, honest, world) : honest();
  });
}

const OPEN = {
  probe: { kind: 'operation', operation: { kind: 'tool', name: 'open', arguments: {} } },
} as const;

ways('abandon.flat', [
  [
    'a server that keeps each call',
    'advice',
    /the probe went from \d+ to \d+ and to \d+/,
    (_sent, honest) => honest(),
    OPEN,
  ],
  [
    'one that keeps none',
    'pass',
    /a quarter of/,
    when(
      ({ params }) => params.name === 'open',
      () => says('3 open'),
    ),
    OPEN,
  ],
]);

describe('era.same', () => {
  it.each([
    ['right', 'pass', /the same 3 question\(s\), and the same end/],
    [
      'words',
      'advice',
      /was asked "From which account\? Please\." and .*, and the new one "From which account\?"/,
    ],
    ['end', 'advice', /ended otherwise: completed: "Something else\."/],
    ['hang', 'advice', /The old client waited, and got .*timed out/],
    ['wordless', 'advice', /got an error without a word/],
  ] as const)('an old client that is asked by requests, %s: %s', async (shim, verdict, words) => {
    const inputs = shim === 'hang' ? { timeoutSeconds: 1 } : {};
    const given = { transport: 'stdio', only: ['era.same'], args: ['--shim', shim], inputs } as const;
    const [seen] = (await checkBare(given)).checked;
    expect(seen?.finding.actual).toMatch(words);
    expect(seen?.verdict).toBe(verdict);
  });
});
