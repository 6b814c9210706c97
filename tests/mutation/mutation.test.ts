import { expect, test } from 'vitest';
import { TARGETS, testsOf } from './targets.ts';

const ROOT = new URL('../../', import.meta.url);

test('each target is there, and the tests of its own package run for it', () => {
  expect(TARGETS.length).toBeGreaterThan(5);
  for (const file of TARGETS)
    expect(testsOf(file, ROOT)).toBe(`${file.split('/').slice(0, 3).join('/')}/**/*.test.ts`);
});

test.each([
  ['packages/core/src/gone.ts', 'does not exist'],
  ['packages/core/src/admission/limits.test.ts', 'is no source file of a package'],
  ['tests/matrix/measure.ts', 'is no source file of a package'],
])('the file %s is rejected, since it %s', (file, why) => {
  expect(() => testsOf(file, ROOT)).toThrow(`${file} ${why}`);
});
