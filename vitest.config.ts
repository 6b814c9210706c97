import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // One module graph per worker: the SDK loads once, not once per file.
    isolate: false,
    // Vitest leaves one core free by default, which is half of a machine with two.
    maxWorkers: '100%',
    setupFiles: ['./tests/testkit/seed.ts'],
    globalSetup: 'tools/postgres-server/src/of-the-run.test-support.ts',
    // A bound on waiting, and no measure of time: a machine that is busy is slow.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    dangerouslyIgnoreUnhandledErrors: false,
    reporters: ['default', './tests/testkit/closing-line.ts'],
    coverage: { include: ['packages/*/src/**/*.ts'], exclude: ['**/*.test.ts', '**/*.test-support.ts'] },
    projects: [
      { extends: true, test: { name: 'packages', include: ['{packages,demos,tools}/**/*.test.ts'] } },
      // `pnpm proof`: it takes too long to run with every change.
      {
        extends: true,
        test: {
          name: 'proof',
          include: ['{packages,demos,tools,tests}/**/*.proof.ts'],
          testTimeout: 240_000,
          // Processes are killed and clocks are real here. The closing lines name each proof that needed its second try.
          retry: 1,
          // The checker's runs wait for probes most of their time, as long as the machine is not busy.
          maxConcurrency: 5,
        },
      },
      { extends: true, test: { name: 'tests', include: ['tests/**/*.test.ts'] } },
    ],
  },
});
