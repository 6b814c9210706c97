/** The tests that run for each mutant, in a copy of the repository. `stryker.ts` chooses them. */
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const listed = (name: string): string[] => JSON.parse(process.env[name] ?? '[]');
const mutated = listed('MRTR_MUTATED');

/** How far a test file is from the mutated files: 0 for a test of one of them, 1 for one in the same folder. */
function distanceOf(test: string): number {
  if (mutated.some((file) => test.includes(file.replace(/\.ts$/, '')))) return 0;
  if (mutated.some((file) => test.includes(file.replace(/[^/]+$/, '')))) return 1;
  return test.includes('/tests/') ? 3 : 2;
}

/** The nearest tests first: the first failure ends the run of a mutant. */
class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return [...files].sort((one, other) => distanceOf(one.moduleId) - distanceOf(other.moduleId));
  }
}

export default defineConfig({
  test: {
    isolate: false,
    testTimeout: 30_000,
    include: listed('MRTR_MUTATION_TESTS'),
    exclude: ['**/node_modules/**', ...listed('MRTR_MUTATION_WITHOUT')],
    sequence: { sequencer: NearestFirst },
  },
});
