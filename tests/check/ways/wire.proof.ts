/** Unreadable messages, and clients that cannot be asked: each variant of a fault is found alone. */
import { describe, expect, test } from 'vitest';
import { checkBare } from '../bare.test-support.ts';
import { checkTwisted, formOf, refuses, type Sent, says, type Twist } from '../scripted.test-support.ts';
import {
  advice,
  asked,
  fail,
  isCall,
  isRetry,
  NEEDED,
  pass,
  ROOTS,
  SHORT,
  streaming,
  unaskable,
  undecided,
  ways,
  when,
} from './ways.test-support.ts';

const COMPLETE = { resultType: 'complete', content: [] };
/** Answers a client that cannot be asked with this response. */
const responding = (more: object): Twist =>
  when(unaskable, ({ id }) => ({ text: JSON.stringify({ jsonrpc: '2.0', id, ...more }) }));
const LISTING = when(({ method }) => method === 'tools/list', asked({ a: ROOTS }));

ways('wire.result-type', {
  'one that nobody knows': fail(/is "done"/, responding({ result: { ...COMPLETE, resultType: 'done' } })),
});
ways('wire.shape', {
  'no jsonrpc': fail(/does not say jsonrpc "2\.0"/, responding({ jsonrpc: undefined, result: COMPLETE })),
  both: fail(/a result and an error/, responding({ result: COMPLETE, error: { code: 1, message: 'a' } })),
  'a list that asks': fail(/may not ask/, LISTING),
  'no response': fail(/without a JSON-RPC response/, when(unaskable, { text: '{}' })),
  'HTTP 413 with the JSON of a framework': pass(
    /exchanges read/,
    when(unaskable, { text: '{"statusCode":413,"error":"Payload Too Large"}', status: 413 }),
  ),
  'HTTP 400 with an error that has a code': fail(
    /does not say jsonrpc "2\.0"/,
    when(unaskable, { text: '{"id":1,"error":{"code":-32600,"message":"No."}}', status: 400 }),
  ),
});

const eliciting = (params: object): Twist =>
  when(unaskable, asked({ a: { method: 'elicitation/create', params: { message: 'A?', ...params } } }));
const form = (more: object): Twist =>
  eliciting({ mode: 'form', requestedSchema: { type: 'object', properties: {}, ...more } });

ways('wire.schema', {
  'a reserved code': fail(/-32050 is reserved and not defined/, when(unaskable, refuses(-32050))),
  'an error without a message': fail(/the error does not fit/, responding({ error: { code: -32600 } })),
  'a result without content': fail(/content/, responding({ result: { resultType: 'complete' } })),
  'a field that is not described': fail(/requires 'c'/, form({ required: ['c'] })),
  'a URL without an address': fail(/the request 'a' does not fit/, eliciting({ mode: 'url' })),
});

const asksAtOnce = (sent: Sent) => isCall(sent) && sent.params.requestState === undefined;
const typeless = when(asksAtOnce, (_sent, honest) => {
  const { resultType, ...result } = (honest() as { result: Record<string, unknown> }).result;
  return { result };
});
const asksFor = (value: object): Twist => {
  const requestedSchema = { type: 'object', properties: { value }, required: ['value'] };
  const params = { mode: 'form', message: 'A?', requestedSchema };
  return when(asksAtOnce, asked({ account: { method: 'elicitation/create', params } }));
};
const unfillable = (words: string, value: object) =>
  fail(new RegExp(`nobody can fill in the form of 'account': 'value' ${words}`), asksFor(value));
const NOTHING = when(asksAtOnce, { result: { resultType: 'input_required' } });

/** Faults from the first message on: they are found although no honest call succeeds. */
ways('wire.result-type', {
  'none where it asks': fail(/^tools\/call: the result has no resultType/, typeless),
  'none that counts, as nothing is asked': undecided(/asked nothing/, when(isCall, says('Sent.'))),
});
ways('wire.shape', {
  'neither questions nor state': fail(/^tools\/call: .*neither requests nor state/, NOTHING),
  'no questions and no state': advice(
    /empty inputRequests and no state/,
    when(asksAtOnce, { result: { resultType: 'input_required', inputRequests: {} } }),
  ),
  'a request that nobody knows': fail(
    /'more' is none of/,
    when(asksAtOnce, asked({ more: { method: 'tools/list' } })),
  ),
});
ways('form.impossible', {
  'bounds that cross': unfillable('has to be at least 5', { type: 'integer', minimum: 5, maximum: 1 }),
  'no whole number': unfillable('has to be', { type: 'integer', minimum: 0.2, maximum: 0.8 }),
  'more than a message holds': unfillable('has to be 5000000 long', { type: 'string', minLength: 5e6 }),
  'choices that are too short': unfillable('allows none', { type: 'string', enum: ['a'], minLength: 2 }),
  'bounds that meet are right': undecided(/No\./, asksFor({ type: 'string', minLength: 8, maxLength: 8 })),
});
ways('retry.twice', {
  'nothing to judge': undecided(/asked nothing: .* \(wire\.result-type found what is wrong/, typeless),
});

const stranger = (sent: Sent): boolean => 'mrtr-check-unknown' in (sent.params.inputResponses ?? {});
ways('wire.unknown-members', {
  'no answer': undecided(/the connection failed/, when(stranger, 'hang-up')),
});

const emptyRound = (requestState: string) => ({ result: { resultType: 'input_required', requestState } });

ways('capability.undeclared', {
  'no data': fail(/without data\.requiredCapabilities/, when(unaskable, refuses(-32021, undefined, 400))),
  'a status of 200': fail(/HTTP status 200, and not 400/, when(unaskable, refuses(-32021, NEEDED, 200))),
  'HTTP 403 alone': fail(/HTTP 403 without a JSON-RPC error/, when(unaskable, { text: '', status: 403 })),
  'a request in its stream': fail(
    /was sent the request elicitation\/create/,
    when(unaskable, streaming({ id: 's', ...formOf('account') }, { result: COMPLETE })),
  ),
  'a lost connection': undecided(/the connection failed/, when(unaskable, 'hang-up')),
  'empty rounds without end': undecided(/did not stop asking/, when(unaskable, emptyRound('again'))),
  'roots are no elicitation': fail(
    /without having declared 'roots'/,
    when(unaskable, asked({ roots: ROOTS })),
  ),
  'a default is right': pass(/completed/, when(unaskable, says('The default was sent.'))),
  'an isError result is right': pass(/isError/, when(unaskable, { result: { ...COMPLETE, isError: true } })),
  'an error in a stream is right': pass(
    /-32021/,
    when(unaskable, streaming({ error: { code: -32021, message: 'No.', data: NEEDED } })),
  ),
});

const declares = (mode: string) => (sent: Sent) =>
  isCall(sent) && JSON.stringify(sent.params.capabilities.elicitation) === mode;
const PAGE = asked({
  page: { method: 'elicitation/create', params: { mode: 'url', message: 'In.', url: 'https://a.example' } },
});
const asksUrlsFor = (question: ReturnType<typeof asked>): Twist =>
  when(declares('{"url":{}}'), (sent) => (isRetry(sent) ? says('Sent.') : question));

ways('capability.mode', {
  'a form to a client of URLs': fail(
    /opens URLs alone was sent an elicitation in mode 'form'/,
    when(declares('{"url":{}}'), asked({ account: formOf('account') })),
  ),
  'a URL to a client of URLs is right': pass(/completed/, asksUrlsFor(PAGE)),
  'roots, which both declare': pass(/completed/, asksUrlsFor(asked({ roots: ROOTS }))),
});

test('a pattern that no generated answer fits asks for one, and shows none that does not fit', async () => {
  const given = { answers: {}, generateAnswers: true };
  await expect(
    checkTwisted(asksFor({ type: 'string', pattern: '^[A-Z]{3}$' }), ['wire'], given),
  ).rejects.toThrow(
    /The answer to 'account' does not fit its form: .* pattern .* such as --answer 'account=\{…\}'/,
  );
});

describe('era.same', () => {
  test.each([
    ['right', 'pass', /the same 3 question\(s\), and the same end/],
    ['words', 'advice', /was asked "From which account\? Please\." .* the new one "From which account\?"/],
    ['end', 'advice', /ended otherwise: completed: "Something else\."/],
    ['hang', 'advice', /The old client waited, and got no answer in/],
    ['wordless', 'advice', /got an error without a word/],
  ] as const)('an old client that is asked by requests, %s: %s', async (shim, verdict, words) => {
    const inputs = shim === 'hang' ? SHORT : {};
    const given = { transport: 'stdio', only: ['era.same'], args: ['--shim', shim], inputs } as const;
    const [seen] = (await checkBare(given)).checks;
    expect(seen?.actual).toMatch(words);
    expect(seen?.verdict).toBe(verdict);
  });
});
