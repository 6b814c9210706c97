/** The tests that run for each mutant, in a copy of the repository. `stryker.ts` chooses them. */
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const listed = (name: string): string[] => JSON.parse(process.env[name] ?? '[]');
const mutated = listed('MRTR_MUTATED');

/** 0 for the tests of a mutated file, which notice most; 2 for those outside of its package; 1 for the others. */
function distanceOf(test: string): number {
  if (mutated.some((file) => test.includes(file.replace(/\.ts$/, '')))) return 0;
  return test.includes('/tests/') ? 2 : 1;
}

/** The nearest tests first: the first failure ends the run of a mutant. The usual order depends on the run before. */
class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byDistance = (one: string, other: string) =>
      distanceOf(one) - distanceOf(other) || (one < other ? -1 : 1);
    return [...files].sort((one, other) => byDistance(one.moduleId, other.moduleId));
  }
}

/** @public Vitest loads it. */
export default defineConfig({
  test: {
    // A test that leans on what another file left behind would fail in some selections, and a mutant would count as
    // noticed.
    isolate: true,
    testTimeout: 30_000,
    include: listed('MRTR_MUTATION_TESTS'),
    exclude: ['**/node_modules/**', ...listed('MRTR_MUTATION_WITHOUT')],
    sequence: { sequencer: NearestFirst },
  },
});
