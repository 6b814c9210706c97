/** The tests that run for each mutant, in a copy of the repository. `stryker.ts` chooses them. */
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const mutated: string[] = JSON.parse(process.env.MRTR_MUTATED ?? '[]');

/** Whether these are the tests of a mutated file, which notice most. */
const isNear = (test: string) => mutated.some((file) => test.includes(file.replace(/\.ts$/, '')));

/** The nearest tests first: the first failure ends the run of a mutant. The usual order depends on the run before. */
class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byDistance = (one: string, other: string) =>
      Number(isNear(other)) - Number(isNear(one)) || (one < other ? -1 : 1);
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
    include: [process.env.MRTR_MUTATION_TESTS ?? ''],
    sequence: { sequencer: NearestFirst },
  },
});
