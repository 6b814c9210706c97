/** An effect that happens once by its nature, as at a bank that pays each invoice once. It must not hide a fault. */
import type { Inputs } from '@mrtr/check';
import { expect, test } from 'vitest';
import { findings, verdicts } from './bare.test-support.ts';
import { onBare } from './cli.test-support.ts';
import { checkTwisted, says, type Twist, untwisted } from './scripted.test-support.ts';
import { byAnswers, isCall, isRetry, unaskable, when } from './ways/ways.test-support.ts';

/** Keeps one effect for each set of arguments. */
function payingOnce(twist: Twist): Twist {
  const paid = new Set<string>();
  return (sent, honest, world) => {
    const { effects } = world;
    const answer = twist(sent, honest, world);
    const invoice = JSON.stringify(sent.params.arguments);
    const isNew = world.effects > effects && !paid.has(invoice);
    if (isNew) paid.add(invoice);
    world.effects = effects + (isNew ? 1 : 0);
    return answer;
  };
}

/** Pays whatever the user answers, and where nobody was asked. */
const PAYS_ALWAYS: Twist = when(
  (sent) => isCall(sent) && (isRetry(sent) || unaskable(sent) || sent.params.inputResponses !== undefined),
  (_sent, _honest, world) => {
    world.effects++;
    return says('Done.');
  },
);

const DESIGN = { stages: [['sure']], done: 'Done.' };
const OPERATION = { kind: 'tool', name: 'send', arguments: { to: 'bob', invoice: 'inv' } } as const;
const ASKING = ['refusal.no-effect', 'consent', 'answer', 'retry', 'effect'];
/** That a refusal with content pays too is left to `refusal.no-effect`. */
const WRONG = [
  'answer.unasked',
  'answer.invalid',
  'answer.empty-accept',
  'answer.missing',
  'refusal.no-effect',
  'consent.unasked-effect',
  'consent.empty-form',
  'consent.false-in-form',
];
const LIST = JSON.stringify(Array.from({ length: 40 }, (_, at) => at + 1));
const check = (twist: Twist, inputs: Partial<Inputs> = {}) =>
  checkTwisted(payingOnce(twist), ASKING, { operation: OPERATION, needsConsent: true, ...inputs }, DESIGN);

test('without --vary no check of effects passes, and each says what to give', async () => {
  const { checks } = await check(PAYS_ALWAYS);
  const counting = checks.filter(({ id }) =>
    /^(retry|effect)\.|no-effect|consent\.(?!blind|spoofed|default)/.test(id),
  );
  for (const { id, verdict, actual } of counting) {
    expect([id, verdict]).toEqual([id, 'could-not-run']);
    expect(actual).toMatch(/this effect happens once for these arguments; give --vary NAME/);
  }
  expect(counting.length).toBeGreaterThan(8);
});

test('with --vary all that is wrong is found', async () => {
  const one = await check(PAYS_ALWAYS, { vary: 'invoice' });
  expect(Object.keys(findings(one))).toEqual(expect.arrayContaining(WRONG));
});

test('with --vary a right server has no finding', async () => {
  const one = await check(untwisted, { vary: 'invoice' });
  // Its question names nothing.
  expect(findings(one)).toEqual({ 'consent.blind': 'fail' });
  expect(Object.keys(verdicts(one, 'pass'))).toEqual(
    expect.arrayContaining(['refusal.no-effect', 'retry.twice']),
  );
});

test('a list that ends while the checks run leaves undecided what comes after', async () => {
  const list = { invoice: Array.from({ length: 6 }, (_, at) => `no-${at}`) };
  const one = await check(untwisted, { vary: list });
  expect(Object.values(findings(one))).toContain('could-not-run');
  expect(Object.values(findings(one))).not.toContain('fail');
});

test('a list on the command line gives each call its value, and is in the line that runs a finding again', async () => {
  const { code, err, out } = await onBare(
    'retry.twice',
    '--only',
    'retry.twice',
    '--one-time',
    '--vary',
    `amount=${LIST}`,
  );
  expect([code, err]).toEqual([1, '']);
  expect(out).toContain(`--vary 'amount=${LIST}'`);
});

test('with --vary a tool that takes the state of another with the same arguments is found', async () => {
  const unbound: Twist = (sent, honest) => {
    const { name, requestState } = sent.params;
    const isTaken = name === 'refund' && requestState !== undefined;
    return isTaken ? honest({ ...sent, params: { ...sent.params, name: 'send' } }) : honest();
  };
  const otherOperation = { ...OPERATION, name: 'refund' };
  const inputs = { operation: OPERATION, otherOperation, vary: 'invoice' };
  const one = await checkTwisted(payingOnce(unbound), ['state'], inputs, DESIGN);
  expect(findings(one)).toEqual({ 'state.other-tool': 'warn' });
});

test('a record of state and answers is found by another answer, also where the form takes a bare yes', async () => {
  const one = await checkTwisted(byAnswers(isRetry), ['retry'], {}, DESIGN);
  expect(findings(one)).toEqual({ 'retry.other-answers': 'fail' });
});

test('with --vary, a call that is paid with the approval of another is found at a bank that says what it has paid', async () => {
  const paid = new Set<string>();
  const asked = new Map<unknown, Readonly<Record<string, unknown>>>();
  const unbound: Twist = (sent, honest, world) => {
    const { requestState, arguments: args } = sent.params;
    if (!isRetry(sent)) {
      const answer = honest();
      asked.set((answer as { result?: { requestState?: unknown } }).result?.requestState, args ?? {});
      return answer;
    }
    const invoice = JSON.stringify(args);
    const content = [{ type: 'text', text: 'It is paid already.' }];
    if (paid.has(invoice)) return { result: { resultType: 'complete', content, isError: true } };
    const { effects } = world;
    const answer = honest({ ...sent, params: { ...sent.params, arguments: asked.get(requestState) ?? {} } });
    if (world.effects > effects) paid.add(invoice);
    return answer;
  };
  const otherArguments = { to: 'bob', invoice: 'other' };
  const inputs = { operation: OPERATION, vary: 'invoice', otherArguments };
  const one = await checkTwisted(unbound, ['state.other-arguments'], inputs, DESIGN);
  expect(findings(one)).toEqual({ 'state.other-arguments': 'warn' });
});
