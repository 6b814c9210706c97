/** Shapes of ours, held to a deploy by the checker as anybody holds a server. deploy.proof.ts has more of them. */
import { expect, it } from 'vitest';
import { verdicts } from './bare.test-support.ts';
import { checkDeploy, found } from './deploy.test-support.ts';

it('F asks a reworded question again, and nothing is found', async () => {
  const one = await checkDeploy('f', 'reworded');
  expect(found(one)).toEqual({});
  expect(verdicts(one, 'pass')).toMatchObject({ 'deploy.survives': 'pass', 'deploy.reworded': 'pass' });
});

it('E keeps the answer to the old words, which is advice', async () => {
  const one = await checkDeploy('e', 'reworded');
  expect(found(one)).toEqual({ 'deploy.reworded': 'advice' });
});

it('two versions with a key each refuse the calls of each other, and the remedy says why', async () => {
  const one = await checkDeploy('g', 'nothing', { ownKeys: true });
  expect(found(one)).toEqual({ 'deploy.survives': 'advice', 'deploy.returns': 'advice' });
  expect(one.checked[0]?.check.remedy).toMatch(/Give both versions the same key/);
});
