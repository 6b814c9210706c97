/** Servers that are wrong from their first message: what the honest call received is judged, and blames nobody else. */
import { CHECKS, type Run } from '@mrtr/check';
import { describe, expect, it } from 'vitest';
import { findings, verdicts } from './bare.test-support.ts';
import { mrtrCheck } from './cli.test-support.ts';
import { resultText, serving } from './posted.test-support.ts';
import { type Answer, checkTwisted, formOf, type Sent, says, type Twist } from './scripted.test-support.ts';
import { asked, early, isCall, when } from './ways/ways.test-support.ts';

const ALL = CHECKS.map(({ id }) => id);
const actualOf = ({ checked }: Run, id: string) =>
  checked.find(({ check }) => check.id === id)?.finding.actual;

const withoutType = (answer: Answer): Answer => {
  if (typeof answer !== 'object' || !('result' in answer)) return answer;
  const { resultType, ...result } = answer.result;
  return { result };
};
const asksAtOnce = (sent: Sent) => isCall(sent) && sent.params.requestState === undefined;
const amount = (bounds: object) => ({ type: 'integer', ...bounds });
const asksFor = (value: object): Twist =>
  when(asksAtOnce, () => {
    const requestedSchema = { type: 'object', properties: { value }, required: ['value'] };
    const { method, params } = formOf('account') as { method: string; params: object };
    return asked({ account: { method, params: { ...params, requestedSchema } } });
  });

const WRONG: readonly (readonly [string, string, 'fail' | 'advice', RegExp, Twist])[] = [
  [
    'no resultType in any result',
    'wire.result-type',
    'fail',
    /^server\/discover: the result has no resultType/,
    (_sent, honest) => withoutType(honest()),
  ],
  [
    'no resultType where it asks',
    'wire.result-type',
    'fail',
    /^tools\/call: the result has no resultType/,
    when(asksAtOnce, (_sent, honest) => withoutType(honest())),
  ],
  [
    'an input_required with neither questions nor state',
    'wire.shape',
    'fail',
    /^tools\/call: an input_required with neither requests nor state/,
    when(asksAtOnce, { result: { resultType: 'input_required' } }),
  ],
  [
    'a request that no client knows, and no answer to it',
    'wire.shape',
    'fail',
    /the request 'more' is none of/,
    when(asksAtOnce, asked({ more: { method: 'tools/list' } })),
  ],
  [
    'bounds that cross',
    'wire.schema',
    'advice',
    /nobody can fill in the form of 'account': 'value' has to be at least 5 and at most 1/,
    asksFor(amount({ minimum: 5, maximum: 1 })),
  ],
  [
    'no whole number between two',
    'wire.schema',
    'advice',
    /nobody can fill in/,
    asksFor(amount({ minimum: 0.2, maximum: 0.8 })),
  ],
  [
    'choices that its own type forbids',
    'wire.schema',
    'advice',
    /'value' allows none of its own choices/,
    asksFor({ type: 'string', enum: ['a', 'b'], minLength: 2 }),
  ],
];

describe.concurrent('a server with', () => {
  it.each(WRONG)(
    '%s has that as its finding, and decides nothing else',
    async (_what, id, verdict, words, twist) => {
      const one = await checkTwisted(twist, ALL);
      const { [id]: found, ...rest } = findings(one);
      expect(found).toBe(verdict);
      expect(actualOf(one, id)).toMatch(words);
      const others = Object.entries(rest).filter(([, other]) => other !== 'could-not-run');
      expect(others.filter(([other]) => !other.startsWith('wire.'))).toEqual([]);
      expect(Object.keys(verdicts(one, 'pass'))).toEqual([]);
      expect(actualOf(one, 'retry.twice')).toContain(`${id} found what is wrong with its messages`);
    },
  );

  it('bounds that meet is asked and answered', async () => {
    const twist = asksFor({ type: 'string', enum: ['checking', 'savings'], minLength: 7, maxLength: 8 });
    expect(findings(await checkTwisted(twist, ['wire', 'retry.twice'])).toString()).not.toMatch(/schema/);
  });

  it('messages in order, and a call that asks nothing, is not judged by them', async () => {
    const one = await checkTwisted(when(isCall, says('Sent.')), ALL);
    expect(new Set(one.checked.map(({ verdict }) => verdict))).toEqual(new Set(['could-not-run']));
    expect(actualOf(one, 'wire.shape')).toMatch(/asked nothing: .* Give arguments with which it asks\.$/);
  });
});

it.concurrent('a pattern that no generated answer fits asks for one, and shows none that does not fit', async () => {
  const twist = asksFor({ type: 'string', pattern: '^[A-Z]{3}$' });
  await expect(checkTwisted(twist, ['wire'], { answers: {}, generateAnswers: true })).rejects.toThrow(
    /The answer to 'account' does not fit its form: .* pattern .* Give one such as --answer 'account=\{…\}'/,
  );
});

/** The published v1 SDK's server says no more than this to a client without a session. */
it.concurrent('a server of the earlier revision alone is told that it is one, and where to read on', async () => {
  const old = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'old', version: '1' } };
  const error = { code: -32002, message: 'Server not initialized' };
  const { code, out } = await serving(
    ({ id, method, headers }) =>
      method === 'initialize' && headers['mcp-protocol-version'] === '2025-11-25'
        ? resultText(id, old)
        : JSON.stringify({ jsonrpc: '2.0', id, error }),
    (url) => mrtrCheck('--tool', 'a', '--report', 'json=/dev/null', url),
  );
  expect(out.replace(/\s+/g, ' ')).toMatch(
    /COULD NOT RUN the server speaks 2025-11-25 alone, and not 2026-07-28: .*docs\/migrating\.md all \d+ checks/,
  );
  expect(out).not.toMatch(/ {2}fail {4}\w/);
  expect(code).toBe(3);
});

const answersAtOnce = when(early, (_sent, _honest, world) => {
  world.effects++;
  return says('Sent.');
});
const UNASKED = ['answer.unasked'];

describe.concurrent('an effect that nobody was asked for', () => {
  it('is a fail where the author says that it needs a yes', async () => {
    const one = await checkTwisted(answersAtOnce, UNASKED, { needsConsent: true });
    expect(findings(one)).toEqual({ 'answer.unasked': 'fail' });
  });

  it('is advice, and says how it becomes one, where nobody says so', async () => {
    const one = await checkTwisted(answersAtOnce, UNASKED);
    expect(findings(one)).toEqual({ 'answer.unasked': 'advice' });
    expect(actualOf(one, 'answer.unasked')).toMatch(
      /the probe changed\. With --needs-consent this is a fail\.$/,
    );
  });

  it('is none where the probe did not change', async () => {
    const one = await checkTwisted(when(early, says('Nothing was sent.')), UNASKED, { needsConsent: true });
    expect(findings(one)).toEqual({ 'answer.unasked': 'advice' });
  });
});
