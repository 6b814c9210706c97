/** The tests that run for each mutant, in a copy of the repository. `run.ts` chooses them. */
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The path of the mutated file, without its ending. */
const mutated = (process.env.MRTR_MUTATED ?? '').replace(/\.ts$/, '');

/** Whether these are the tests of the mutated file, which notice most. */
const isNear = (test: string) => test.includes(mutated);

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
