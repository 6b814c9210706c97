/** Clients that cannot be asked, and old ones: each way alone is found, and what is no fault is not. */
import { describe, expect, it } from 'vitest';
import { checkBare } from '../bare.test-support.ts';
import { asks, checkTwisted, formOf, refuses, type Sent, says } from '../scripted.test-support.ts';
import {
  asked,
  FRESH,
  isCall,
  isRetry,
  mute,
  NEEDED,
  ROOTS,
  SHORT,
  ways,
  when,
} from './ways.test-support.ts';

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
