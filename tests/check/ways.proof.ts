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
  type World,
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
    'a URL to a client of URLs is right',
    'pass',
    /completed/,
    when(declares('{"url":{}}'), (sent) =>
      isRetry(sent)
        ? says('Sent.')
        : asked({
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

/** The probe reads otherwise, and each call adds `by` to it. */
const reading = (by: number, text: (effects: number) => string): Twist => {
  const effects = effectsAt(0, 0, by);
  return (sent, honest, world) =>
    sent.params.name === 'count' ? says(text(world.effects)) : effects(sent, honest, world);
};
const UNCOUNTED = reading(1, (effects) => `sent ${'and '.repeat(effects)}done`);

ways('effect.once', [
  ['one in each round', 'advice', /changed 2 times: after request 2, after request 3/, effectsAt(0, 1, 1)],
  ['two at the end', 'advice', /One call adds 2 to the probe/, effectsAt(0, 0, 2)],
  ['one in the middle is right', 'pass', /the probe went from/, effectsAt(0, 1, 0)],
  ['a balance that goes up by five is right', 'pass', /the probe went from/, effectsAt(0, 0, 5)],
  [
    'a balance in words that goes up by two is right',
    'pass',
    /the probe went from/,
    reading(2, (effects) => `${effects} euros`),
  ],
  ['a fraction is right', 'pass', /the probe went from/, reading(1, (effects) => String(effects * 1.5))],
]);
ways('effect.before-answer', [
  ['with the question', 'advice', /before anything was answered/, effectsAt(1, 0, 1)],
  ['with the first answer is right', 'pass', /did not change/, effectsAt(0, 1, 0)],
]);
ways('effect.per-round', [
  ['with each question', 'advice', /times the effects of an honest one/, effectsAt(1, 1, 1)],
  ['a probe without a number', 'could-not-run', /holds no single number/, UNCOUNTED],
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
  ['a probe without a number', 'could-not-run', /effects cannot be counted/, UNCOUNTED],
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

/** After so many calls in a row that nobody answers it takes no more, of anybody or of this principal, or refuses one. */
function full(most: number, of: 'all' | 'each' | 'once'): Twist {
  const open = new Map<string, number>();
  return when(isCall, (sent, honest) => {
    const who = of === 'each' ? sent.principal : 'all';
    const calls = isRetry(sent) ? 0 : (open.get(who) ?? 0) + 1;
    open.set(who, calls);
    return (of === 'once' ? calls === most + 1 : calls > most) ? refuses(-32603) : honest();
  });
}

ways('abandon.flat', [
  [
    'a server that is full',
    'advice',
    /After 40 abandoned calls .* Another principal is not served either/,
    full(40, 'all'),
  ],
  [
    'one that is full for one principal',
    'advice',
    /After 40 abandoned calls .* Another principal is still served/,
    full(40, 'each'),
  ],
  ['one that is out of order', 'could-not-run', /after 4 calls the server is out of order/, full(4, 'once')],
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

const valued = (sent: Sent, key: string): unknown => sent.params.inputResponses?.[key]?.content?.value;
const early = (sent: Sent): boolean =>
  isCall(sent) && !isRetry(sent) && sent.params.inputResponses !== undefined;
const hangUp: Twist = () => 'hang-up';

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

const tampered = presents((state) => /[^0-9a-f-]/.test(String(state)));

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

const written200 = (more: object) => (sent: Sent) => ({
  text: JSON.stringify({ jsonrpc: '2.0', id: sent.id, ...more }),
});
const COMPLETE = { resultType: 'complete', content: [] };

ways('wire.result-type', [
  [
    'one that nobody knows',
    'fail',
    /the resultType is "done"/,
    when(mute, () => ({ result: { ...COMPLETE, resultType: 'done' } })),
  ],
]);
ways('wire.shape', [
  [
    'the id of another request',
    'fail',
    /has the id 99 for a request/,
    when(mute, written200({ id: 99, result: COMPLETE })),
  ],
  [
    'no jsonrpc',
    'fail',
    /does not say jsonrpc "2\.0"/,
    when(mute, written200({ jsonrpc: undefined, result: COMPLETE })),
  ],
  [
    'a result and an error',
    'fail',
    /both a result and an error/,
    when(mute, written200({ result: COMPLETE, error: { code: 1, message: 'a' } })),
  ],
  [
    'neither requests nor state',
    'fail',
    /neither requests nor state/,
    when(mute, () => ({ result: { resultType: 'input_required' } })),
  ],
  [
    'a request that may not be asked',
    'fail',
    /the request 'a' is none of/,
    when(mute, () => asked({ a: { method: 'tools/list' } })),
  ],
  [
    'a list that asks',
    'fail',
    /may not ask/,
    when(
      ({ method }) => method === 'tools/list',
      () => asked({ a: ROOTS }),
    ),
  ],
  ['no response', 'fail', /without a JSON-RPC response/, when(mute, () => ({ text: '{}' }))],
]);
const form = (requestedSchema: object): Answer =>
  asked({ a: { method: 'elicitation/create', params: { mode: 'form', message: 'A?', requestedSchema } } });
ways('wire.schema', [
  ['a reserved code', 'fail', /-32050 is reserved and not defined/, when(mute, () => refuses(-32050))],
  [
    'an error without a message',
    'fail',
    /the error does not fit/,
    when(mute, () => ({ error: { code: -32600 } })),
  ],
  ['a result without content', 'fail', /content/, when(mute, () => ({ result: { resultType: 'complete' } }))],
  [
    'a nested form',
    'fail',
    /the request 'a' does not fit/,
    when(mute, () => form({ type: 'object', properties: { b: { type: 'object', properties: {} } } })),
  ],
  [
    'a field that is required and not described',
    'fail',
    /requires 'c', which it does not describe/,
    when(mute, () => form({ type: 'object', properties: {}, required: ['c'] })),
  ],
  [
    'a URL without an address',
    'fail',
    /the request 'a' does not fit/,
    when(mute, () => asked({ a: { method: 'elicitation/create', params: { mode: 'url', message: 'A?' } } })),
  ],
]);
ways('wire.duplicate-keys', [
  [
    'deep in a result',
    'fail',
    /result\.a\.\[\]\.b stands twice/,
    when(mute, ({ id }) => ({
      text: `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":[],"a":[{"b":1,"b":2}]}}`,
    })),
  ],
]);

const stranger = (sent: Sent): boolean => 'mrtr-check-unknown' in (sent.params.inputResponses ?? {});

ways('wire.unknown-members', [
  [
    'another end',
    'warn',
    /came to completed: "It was all sent to mallory/,
    when(
      (sent) => stranger(sent) && sent.params.inputResponses?.sure !== undefined,
      (_sent, honest) => {
        honest();
        return DIFFERENT;
      },
    ),
  ],
  ['no answer', 'could-not-run', /the connection failed/, when(stranger, hangUp)],
]);
