/** The process that a command runs in. */
import { main } from './main.ts';

// A reader may stop early, as `head` does; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const args = process.argv.slice(2);
process.exitCode = await main(args, process);
// A tool that was served may still be waiting for something.
if (args[0] === 'serve') process.exit();
