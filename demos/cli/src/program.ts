/** The process that a command runs in. */
import { main } from './main.ts';

// A reader may stop early, as `head` does; that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const args = process.argv.slice(2);
process.exitCode = await main(args, process);
// A served tool may still wait for something, which would keep the process alive.
if (args[0] === 'serve') process.exit();
