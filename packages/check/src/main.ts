#!/usr/bin/env node
/** The `mrtr-check` program. */
import { endOnSignals, killAll, Writer } from '@mrtr/harness/internal';
import { main } from './cli/cli.ts';
import { forLog } from './report/text.ts';

endOnSignals();

const [out, err] = [new Writer(process.stdout), new Writer(process.stderr)];

// Node would exit with 1, which means that a check failed.
process.on('uncaughtException', (error) => process.exit(failOf(error)));

function failOf(error: unknown) {
  const { stack = String(error) } = error as Partial<Error>;
  err.write(`mrtr-check failed, which is a defect of its own: ${forLog(stack)}\n`);
  return 70;
}

try {
  // The folder stands beside `dist` in the package, and beside `src` in the repository.
  const viewer = new URL('../viewer/', import.meta.url);
  process.exitCode = await main(process.argv.slice(2), { out, err, viewer, in: process.stdin });
} catch (error) {
  process.exitCode = failOf(error);
} finally {
  killAll();
  // Exit even if a server keeps connections open.
  out.write('', () => process.exit());
}
