import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/**
 * Prints the slowest files, the tests that passed only when they ran again with why they failed first, and then
 * `N passed, N failed, N skipped` alone on the last line, for whatever reads only that. A file that does not load and an
 * unhandled error each count as a failure: neither is a test, and neither may pass for none.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const again: string[] = [];
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state, errors = [] } = test.result();
        count[state === 'pending' ? 'failed' : state] += 1;
        if (!test.diagnostic()?.flaky) continue;
        const problem = errors[0]?.message.replaceAll('\n', '\n    ');
        again.push(`  ${module.relativeModuleId} > ${test.fullName}\n    ${problem}`);
      }
    }
    const line = `${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`;
    // At exit, because the summary and the coverage table are still to come.
    const flaky = again.length === 0 ? '' : `Passed when they ran again:\n${again.join('\n')}\n\n`;
    process.once('exit', () => process.stdout.write(`${slowest(modules)}\n${flaky}${line}`));
  }
}

/** The slowest files, imports included, in seconds. */
function slowest(modules: readonly TestModule[]): string {
  const files = modules.map((module) => {
    const { collectDuration, duration } = module.diagnostic();
    return { file: module.relativeModuleId, seconds: (collectDuration + duration) / 1000 };
  });
  const shown = files.sort((a, b) => b.seconds - a.seconds).slice(0, SHOWN);
  return [
    'Slowest files:',
    ...shown.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${file}`),
    '',
  ].join('\n');
}
