/** A check that cannot decide says so: where an honest call fails (exactly.proof.ts has the rest), and without an input. */
import { CHECKS, run } from '@mrtr/check';
import { expect, it } from 'vitest';
import { bareCommand, checkBare, EVERYTHING, findings, inWorld, verdicts } from './bare.test-support.ts';

const DEPLOY = CHECKS.map(({ id }) => id).filter((id) => id.startsWith('deploy.'));

it('no check could run where the first honest call fails', async () => {
  const one = await checkBare({ args: ['--calls-until-broken', '2'] });
  expect(Object.keys(verdicts(one, 'could-not-run'))).toHaveLength(CHECKS.length);
});

it('a check whose input was not given has not run, and says which input', async () => {
  const bare = await inWorld((world) => {
    const { otherOperation, probe, ...rest } = EVERYTHING;
    return run({ ...rest, oneTime: false, address: { command: bareCommand(world), headers: {} } });
  });
  const missing = bare.checked
    .filter(({ verdict }) => verdict === 'not-run')
    .map(({ check, finding }) => [check.id, finding.actual]);
  expect(Object.fromEntries(missing)).toEqual({
    'state.other-tool': '--other-operation tool:NAME was not given',
    'state.other-method': '--other-operation with another kind (tool:, prompt: or resource:) was not given',
    'state.other-principal': '--other-header was not given',
    'state.expired': '--ttl was not given',
    ...Object.fromEntries(DEPLOY.map((id) => [id, '--next was not given'])),
    ...Object.fromEntries(
      [
        'retry.twice',
        'retry.concurrent',
        'retry.lost-response',
        'refusal.no-effect',
        'instance.replay-elsewhere',
        'effect.before-answer',
        'effect.once',
        'effect.per-round',
      ].map((id) => [id, '--probe was not given, so that effects are not seen']),
    ),
  });
  expect(findings(bare)).toEqual({});
});

it('a probe that an honest call does not change cannot decide about effects', async () => {
  const still = { kind: 'cmd', command: 'echo 1' } as const;
  const one = await checkBare({ only: ['retry', 'effect'], inputs: { probe: still } });
  expect(Object.values(findings(one))).toEqual(Array(6).fill('could-not-run'));
  expect(one.checked[0]?.finding.actual).toMatch(/does not change the probe/);
});

it('a probe that changes by itself cannot either', async () => {
  const restless = { kind: 'cmd', command: 'date +%s%N' } as const;
  const one = await checkBare({ only: ['retry.twice'], inputs: { probe: restless } });
  expect(one.checked[0]?.finding.actual).toMatch(/the probe changes by itself/);
});
