/** `pnpm bench`. */
import { readArgs } from './args.ts';
import { runBenchmarks } from './run.ts';

// What a benchmark left open (a pool of sockets, say) must not keep the program.
process.exit(await runBenchmarks(readArgs(process.argv.slice(2))));
