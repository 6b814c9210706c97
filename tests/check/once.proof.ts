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

/** Found by the text alone: that of an accepted call. */
const BY_TEXT = ['refusal.no-effect', 'consent.empty-form', 'consent.false-in-form'];

test('without --vary no check of effects passes, and each that has no other evidence says what to give', async () => {
  const { checks } = await check(PAYS_ALWAYS);
  const counting = checks.filter(({ id }) =>
    /^(retry|effect)\.|no-effect|consent\.(?!blind|spoofed|default)/.test(id),
  );
  for (const { id, verdict, actual } of counting) {
    const isByText = BY_TEXT.includes(id);
    expect([id, verdict]).toEqual([id, isByText ? 'warn' : 'could-not-run']);
    expect(actual).toMatch(
      isByText
        ? /ended as an honest call does/
        : /this effect happens once for these arguments; give --vary NAME/,
    );
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

test('a varied text is new in each run, so that a bank that remembers pays in the second run too', async () => {
  const remembering = payingOnce(untwisted);
  const inputs = { operation: OPERATION, vary: 'invoice' };
  for (let time = 0; time < 2; time++)
    expect(verdicts(await checkTwisted(remembering, ['effect.once'], inputs, DESIGN), 'pass')).toHaveProperty(
      ['effect.once'],
    );
});

test('an effect that ends while a check counts leaves that check undecided', async () => {
  let paid = 0;
  // The two honest calls before the check have their effect, and no later call has.
  const untilLater: Twist = (_sent, honest, world) => {
    const { effects } = world;
    const answer = honest();
    if (world.effects > effects && ++paid > 2) world.effects = effects;
    return answer;
  };
  const [seen] = (await checkTwisted(untilLater, ['refusal.no-effect'], {}, DESIGN)).checks;
  expect(seen?.actual).toMatch(/does not change the probe any more: this effect happens once/);
  expect(seen?.verdict).toBe('could-not-run');
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
