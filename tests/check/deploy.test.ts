/** Shapes of ours, held to a deploy by the checker as anybody holds a server. deploy.proof.ts has more of them. */
import { expect, it } from 'vitest';
import { verdicts } from './bare.test-support.ts';
import { checkDeploy, found } from './deploy.test-support.ts';

const only = ['deploy.survives', 'deploy.reworded'];

it('F asks a reworded question again, and nothing is found', async () => {
  const one = await checkDeploy('f', 'reworded', { only });
  expect(verdicts(one, 'pass')).toEqual({ 'deploy.survives': 'pass', 'deploy.reworded': 'pass' });
  expect(one.checked[0]?.finding.actual).toMatch(/question 1 the call was asked size again, and finished/);
});

it('E keeps the answer to the old words, which is advice', async () => {
  expect(found(await checkDeploy('e', 'reworded', { only }))).toEqual({ 'deploy.reworded': 'advice' });
});

it('two versions with a key each refuse the calls of each other, and the remedy says why', async () => {
  const one = await checkDeploy('g', 'nothing', { ownKeys: true, only: ['deploy.survives'] });
  expect(found(one)).toEqual({ 'deploy.survives': 'advice' });
  expect(one.checked[0]?.check.remedy).toMatch(/Give both versions the same key/);
});
