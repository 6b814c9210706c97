/** The server without a fault, over HTTP: no findings. kinds.proof.ts has it over stdio. */
import { expect, it } from 'vitest';
import { checkBare, findings, verdicts } from './bare.test-support.ts';

it.concurrent('every check that does not wait passes over HTTP, in time', async ({ expect }) => {
  const run = await checkBare({ next: [] });
  expect(findings(run)).toEqual({});
  // Nothing is readable, so nothing can be forged; the new version has the same questions; the rest was not given.
  const notApplicable = ['state.forged', 'deploy.reworded', 'deploy.unfit'];
  expect(Object.keys(verdicts(run, 'not-applicable'))).toEqual(notApplicable);
  expect(Object.keys(verdicts(run, 'not-run'))).toEqual(['state.other-method', 'state.expired']);
});

it.each([
  ['prompt', { kind: 'prompt', name: 'balance', arguments: {} }],
  ['resource', { kind: 'resource', name: 'bank://balance', arguments: {} }],
] as const)('a %s that asks is checked, without leave for effects', async (kind, operation) => {
  const run = await checkBare({
    inputs: {
      operation,
      otherOperation: { kind: 'tool', name: 'transfer', arguments: { to: 'bob', amount: 5 } },
      answers: { '*': 'checking' },
      allowEffects: true,
      oneTime: false,
    },
  });
  expect(findings(run)).toEqual({});
  expect(verdicts(run, 'pass')).toMatchObject({
    'state.tampered': 'pass',
    'wire.schema': 'pass',
    'answer.invalid': 'pass',
  });
  expect(verdicts(run, 'pass')).toMatchObject({ 'state.other-method': 'pass' });
  expect(verdicts(run, 'not-applicable')).toMatchObject({ 'retry.twice': 'not-applicable' });
  expect(kind).toBe(operation.kind);
});

it.concurrent('generated answers do, and the same seed makes the same ones', async ({ expect }) => {
  const inputs = { answers: {}, generateAnswers: true, seed: 7 };
  const [one, two] = await Promise.all([
    checkBare({ only: ['answer'], inputs }),
    checkBare({ only: ['answer'], inputs }),
  ]);
  expect(findings(one)).toEqual({});
  expect(two.checked.map(({ finding }) => finding.actual)).toEqual(
    one.checked.map(({ finding }) => finding.actual),
  );
});

it.concurrent('a question without an answer is a mistake of usage, and says what to add', async ({
  expect,
}) => {
  await expect(checkBare({ inputs: { answers: {} } })).rejects.toThrow(
    /asks 'account' .* Add --answer 'account=\{"account":"checking|savings"\}'/,
  );
});
