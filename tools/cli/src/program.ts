/** The process that a command runs in. */
import { inspect } from 'node:util';
import { main } from './main.ts';
import { terminalOf } from './terminal.ts';

const terminal = terminalOf(process);

// Node would print a server's text in it raw.
process.on('uncaughtException', (error) => {
  terminal.stderr.write(`${inspect(error)}\n`);
  process.exit(1);
});

// A reader may stop early, as `head` does; that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const args = process.argv.slice(2);
process.exitCode = await main(args, terminal);
// A served tool may still wait for something, which would keep the process alive.
if (args[0] === 'serve') process.exit();
