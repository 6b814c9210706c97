#!/usr/bin/env node
/** `mrtr-check`, as it is run. */
import { main } from './cli/cli.ts';
import { endOnSignals, killAll } from './wire/process.ts';

endOnSignals();
try {
  const { stdout: out, stderr: err } = process;
  // In the package, beside `dist`, and beside `src`.
  const viewer = new URL('../viewer/', import.meta.url);
  process.exitCode = await main(process.argv.slice(2), { out, err, viewer });
} catch (error) {
  process.stderr.write(`mrtr-check failed, which is a defect of its own: ${(error as Error).stack}\n`);
  process.exitCode = 70;
} finally {
  killAll();
}
