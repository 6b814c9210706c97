/** Messages that no client can read: each way alone is found, and what is no fault is not. */
import { refuses, type Sent, type Twist } from '../scripted.test-support.ts';
import { asked, DIFFERENT, fail, mute, ROOTS, undecided, warn, ways, when } from './ways.test-support.ts';

const COMPLETE = { resultType: 'complete', content: [] };
/** Answers a client that cannot be asked with this response. */
const responding = (more: object): Twist =>
  when(mute, ({ id }) => ({ text: JSON.stringify({ jsonrpc: '2.0', id, ...more }) }));
const LISTING = when(({ method }) => method === 'tools/list', asked({ a: ROOTS }));

ways('wire.result-type', {
  'one that nobody knows': fail(/is "done"/, responding({ result: { ...COMPLETE, resultType: 'done' } })),
});
ways('wire.shape', {
  'the id of another request': fail(/has the id 99 for a request/, responding({ id: 99, result: COMPLETE })),
  'no jsonrpc': fail(/does not say jsonrpc "2\.0"/, responding({ jsonrpc: undefined, result: COMPLETE })),
  both: fail(/a result and an error/, responding({ result: COMPLETE, error: { code: 1, message: 'a' } })),
  neither: fail(/neither requests nor state/, responding({ result: { resultType: 'input_required' } })),
  'a strange request': fail(/the request 'a' is none of/, when(mute, asked({ a: { method: 'tools/list' } }))),
  'a list that asks': fail(/may not ask/, LISTING),
  'no response': fail(/without a JSON-RPC response/, when(mute, { text: '{}' })),
});

const eliciting = (params: object): Twist =>
  when(mute, asked({ a: { method: 'elicitation/create', params: { message: 'A?', ...params } } }));
const form = (more: object): Twist =>
  eliciting({ mode: 'form', requestedSchema: { type: 'object', properties: {}, ...more } });

ways('wire.schema', {
  'a reserved code': fail(/-32050 is reserved and not defined/, when(mute, refuses(-32050))),
  'an error without a message': fail(/the error does not fit/, responding({ error: { code: -32600 } })),
  'a result without content': fail(/content/, responding({ result: { resultType: 'complete' } })),
  'a nested form': fail(/'a' does not fit/, form({ properties: { b: { type: 'object', properties: {} } } })),
  'a field that is not described': fail(/requires 'c'/, form({ required: ['c'] })),
  'a URL without an address': fail(/the request 'a' does not fit/, eliciting({ mode: 'url' })),
});
ways('wire.duplicate-keys', {
  'deep in a result': fail(
    /result\.a\.\[\]\.b stands twice/,
    when(mute, ({ id }) => ({
      text: `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":[],"a":[{"b":1,"b":2}]}}`,
    })),
  ),
});

const stranger = (sent: Sent): boolean => 'mrtr-check-unknown' in (sent.params.inputResponses ?? {});
const strangerAtTheEnd = (sent: Sent): boolean =>
  stranger(sent) && sent.params.inputResponses?.sure !== undefined;
const endsDifferently: Twist = (_sent, honest) => {
  honest();
  return DIFFERENT;
};

ways('wire.unknown-members', {
  'another end': warn(/completed: "It was all sent to mallory/, when(strangerAtTheEnd, endsDifferently)),
  'no answer': undecided(/the connection failed/, when(stranger, 'hang-up')),
});
