/** `pnpm bench`. */
import { HELP, readArgs } from './args.ts';
import { runBenchmarks } from './run.ts';

try {
  const settings = readArgs(process.argv.slice(2));
  if (settings.help) process.stdout.write(HELP);
  // What a benchmark left open (a pool of sockets, say) must not keep the program.
  else process.exit(await runBenchmarks(settings));
} catch (error) {
  if (!(error instanceof TypeError && 'code' in error)) throw error;
  process.stderr.write(`${error.message}\n\n${HELP}`);
  process.exitCode = 2;
}
