/** A deploy between two rounds, in this process: two servers with one key. `deploy.proof.ts` has two processes. */

import {
  CHANGE_NAMES,
  deployTables,
  inMemory,
  QUESTION_CHANGES,
  SHAPES,
  STEP_CHANGES,
} from '@mrtr/matrix/deploy';
import { expect, test } from 'vitest';
import { holdToClaims } from './claims.test-support.ts';
import { KNOWN_QUESTION_CHANGES, KNOWN_SHAPES, KNOWN_STEP_CHANGES } from './expected-plays.ts';

test('every shape and every change is measured, and has its place in a table', () => {
  expect(SHAPES).toEqual(expect.arrayContaining([...KNOWN_SHAPES]));
  expect(KNOWN_SHAPES).toHaveLength(11);
  expect([...CHANGE_NAMES].sort()).toEqual([...KNOWN_QUESTION_CHANGES, ...KNOWN_STEP_CHANGES].sort());
  expect(CHANGE_NAMES).toHaveLength(15);
  expect(Object.keys(QUESTION_CHANGES).sort()).toEqual([...KNOWN_QUESTION_CHANGES].sort());
  expect(Object.keys(STEP_CHANGES).sort()).toEqual([...KNOWN_STEP_CHANGES].sort());
  for (const [head = [], ...rows] of Object.values(deployTables())) {
    const shapes = head.slice(1).flatMap((names) => names.split(', '));
    expect(shapes).toHaveLength(SHAPES.length);
    for (const row of rows) expect(row.filter((cell) => cell !== '')).toHaveLength(head.length);
  }
  const { 'deploy-questions': questions, 'deploy-steps': steps } = deployTables();
  expect([questions.length - 1, steps.length - 1]).toEqual([10, 5]);
});

for (const shape of SHAPES.filter((one) => one !== 'h-postgres')) {
  test(`shape ${shape} does what it claims when its code changes between two rounds`, async () => {
    await holdToClaims(shape, inMemory());
  }, 30_000);
}
