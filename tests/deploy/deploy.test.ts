/** The tables of deploys are complete. `deploy.proof.ts` measures their cells. */

import { CHANGE_NAMES } from '@mrtr/comparison/claims';
import { loadOptions } from '@mrtr/comparison/options';
import { deployTables, QUESTION_CHANGES, STEP_CHANGES } from '@mrtr/matrix/deploy';
import { expect, test } from 'vitest';
import { KNOWN_QUESTION_CHANGES, KNOWN_SHAPES, KNOWN_STEP_CHANGES } from './expected-scenarios.ts';

const DEPLOYED = (await loadOptions()).filter(({ claims }) => claims.deploys);

test('every shape and every change is measured, and has its place in a table', () => {
  expect(DEPLOYED.map(({ id }) => id)).toEqual(expect.arrayContaining([...KNOWN_SHAPES]));
  expect(KNOWN_SHAPES).toHaveLength(11);
  expect([...CHANGE_NAMES].sort()).toEqual([...KNOWN_QUESTION_CHANGES, ...KNOWN_STEP_CHANGES].sort());
  expect(CHANGE_NAMES).toHaveLength(15);
  expect(Object.keys(QUESTION_CHANGES).sort()).toEqual([...KNOWN_QUESTION_CHANGES].sort());
  expect(Object.keys(STEP_CHANGES).sort()).toEqual([...KNOWN_STEP_CHANGES].sort());
  for (const [head = [], ...rows] of Object.values(deployTables(DEPLOYED))) {
    const shapes = head.slice(1).flatMap((names) => names.split(', '));
    expect(shapes).toHaveLength(DEPLOYED.length);
    for (const row of rows) expect(row.filter((cell) => cell !== '')).toHaveLength(head.length);
  }
  const { 'deploy-questions': questions, 'deploy-steps': steps } = deployTables(DEPLOYED);
  expect([questions.length - 1, steps.length - 1]).toEqual([10, 5]);
});
