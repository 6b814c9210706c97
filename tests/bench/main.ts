/** `pnpm bench`. */
import { readArgs } from './args.ts';
import { runBenchmarks } from './run.ts';

// Sockets that a benchmark left open must not keep the program alive.
process.exit(await runBenchmarks(readArgs(process.argv.slice(2))));
