/** Messages that no client can read: each way alone is found, and what is no fault is not. */
import { type Answer, refuses, type Sent } from '../scripted.test-support.ts';
import { asked, DIFFERENT, hangUp, mute, ROOTS, ways, when } from './ways.test-support.ts';

const responding = (more: object) => (sent: Sent) => ({
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
    when(mute, responding({ id: 99, result: COMPLETE })),
  ],
  [
    'no jsonrpc',
    'fail',
    /does not say jsonrpc "2\.0"/,
    when(mute, responding({ jsonrpc: undefined, result: COMPLETE })),
  ],
  [
    'a result and an error',
    'fail',
    /both a result and an error/,
    when(mute, responding({ result: COMPLETE, error: { code: 1, message: 'a' } })),
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
