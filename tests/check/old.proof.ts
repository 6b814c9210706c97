/** The checks about users on a server of 2025-11-25, over its session: one right server, and one fault for each check. */
import { type Inputs, run } from '@mrtr/check';
import { describe, expect, test } from 'vitest';
import { bundle } from '../testkit/bundle.ts';
import { advice, type Found, fail, findings, probeOf, warn } from './bare.test-support.ts';
import { mrtrCheck } from './cli.test-support.ts';

// Each run starts it up to ten times, and from one file it starts in half the time.
const OLD = await bundle(new URL('./servers/old.mjs', import.meta.url), 'old', true);

type Transport = 'http' | 'stdio';

const commandOf = (transport: Transport, fault = 'none') => [
  ...[process.execPath, OLD, '--fault', fault],
  ...(transport === 'http' ? ['--http', '{port}'] : []),
];

const inputsFor = (transport: Transport, fault?: string): Inputs => ({
  address: { command: commandOf(transport, fault) },
  operation: { kind: 'tool', name: 'transfer', arguments: { to: 'bob', amount: 5 } },
  answers: { account: 'checking', sure: true },
  probe: probeOf('count'),
  allowEffects: true,
  timeoutSeconds: 5,
});

describe.each<Transport>(['http', 'stdio'])('over %s', (transport) => {
  test.concurrent('a right server has no finding, and what is about rounds and state does not apply', async () => {
    const report = await run(inputsFor(transport));
    expect(findings(report)).toEqual({});
    const { pass, 'not-applicable': out, 'could-not-run': undecided } = report.summary;
    expect({ pass, undecided }).toEqual({ pass: 19, undecided: 0 });
    expect(pass + out).toBe(report.summary.checks);
    const reasonOf = (id: string) => report.checks.find((one) => one.id === id)?.actual;
    expect(reasonOf('state.tampered')).toMatch(/speaks 2025-11-25 alone, .*docs\/migrating\.md/);
    expect(report.exitCode).toBe(0);
    // A sentence of another revision would be a false quotation.
    const cited = report.checks.filter(({ verdict }) => verdict === 'pass').map(({ clause }) => clause);
    for (const { at, words } of cited) {
      expect(at).toMatch(/^2025-11-25[, ]/);
      expect(`${at} ${words}`).not.toMatch(/2026-07-28|basic\/patterns|Both parties SHOULD/);
    }
  });
});

const FAULTS: readonly [fault: string, found: Found][] = [
  ['capability.mode', fail('capability.mode')],
  ['capability.undeclared', fail('capability.undeclared')],
  ['refusal.no-effect', fail('refusal.no-effect')],
  ['refusal.decline-ends', advice('refusal.decline-ends')],
  ['refusal.cancel-ends', advice('refusal.cancel-ends')],
  ['refusal.rounds-bounded', advice('refusal.rounds-bounded', 'form.rounds')],
  ['answer.invalid', warn('answer.invalid')],
  ['answer.empty-accept', { ...warn('answer.empty-accept'), ...advice('consent.empty-form') }],
  ['answer.refusal-with-content', warn('answer.refusal-with-content')],
  ['effect.before-answer', advice('effect.before-answer')],
  ['effect.once', advice('effect.once')],
  ['consent.unasked-effect', advice('consent.unasked-effect')],
  ['consent.empty-form', advice('consent.empty-form')],
  ['consent.default-yes', advice('consent.default-yes')],
  ['consent.false-in-form', advice('consent.false-in-form')],
  ['consent.argument', advice('consent.argument')],
  ['consent.blind', advice('consent.blind')],
  ['consent.spoofed', advice('consent.spoofed')],
];

describe('the fault that a check is for is found, and cites the revision of the server:', () => {
  test.concurrent.each(FAULTS)('%s', async (fault, found) => {
    // A client with other capabilities has a process of its own over stdio, so the probe does not see its effects.
    const isOfAnotherClient = /^capability|^consent\.(?:unasked|argument)/.test(fault);
    const report = await run(inputsFor(isOfAnotherClient ? 'http' : 'stdio', fault));
    expect(findings(report)).toEqual(found);
    const [first] = report.checks.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn');
    if (first) expect(first.clause.at).toMatch(/^2025-11-25, /);
    // These functions answer an input_required, which no client of this server knows.
    const { remedy } = report.checks.find(({ id }) => id in found) ?? {};
    expect(remedy).toMatch(/^[^@]{20,}\.$/);
    expect(remedy).not.toMatch(/acceptedContent|readAnswer/);
  });
});

test('--find tries what only reads', async () => {
  const { code, out } = await mrtrCheck('--find', '--', ...commandOf('stdio'));
  expect([code, out]).toEqual([0, expect.stringMatching(/^does not ask +tool count +completed: "0"$/m)]);
  expect(out).toMatch(/not tried +tool transfer/);
});

test('a finding about capabilities draws what the client declared, and names the question by its words', async () => {
  const call = ['--tool', 'transfer', '--arguments', '{"to":"bob","amount":5}', '--allow-effects'];
  const given = [...call, '--generate-answers', '--only', 'capability.mode'];
  const { out } = await mrtrCheck(...given, '--', ...commandOf('http', 'capability.mode'));
  expect(out).toMatch(
    /initialize[ │]+\n.*declares \{"sampling":\{\},"roots":\{\},"elicitation":\{"url":\{\}\}\}/,
  );
  expect(out.replace(/\s+/g, ' ')).toContain(`in mode 'form' (the question "From which account?")`);
});

test('the drawn conversation is that of a session', async () => {
  const call = ['--tool', 'transfer', '--arguments', '{"to":"bob","amount":5}', '--allow-effects'];
  const given = [...call, '--generate-answers', '--probe', 'tool:count', '--only', 'refusal.no-effect'];
  const { code, out } = await mrtrCheck(...given, '--', ...commandOf('http', 'refusal.no-effect'));
  expect(code).toBe(1);
  expect(out).toMatch(/elicitation\/create/);
  expect(out).not.toMatch(/requestState|input_required/);
});
