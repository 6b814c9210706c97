// Runs PostgreSQL for as long as its stdin is open: however the process that started this one ends, killed included,
// the server ends too, and its folder is deleted. What it is to run comes as one line of JSON.
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin });
let server;
lines.once('line', (line) => {
  const { program, args, options, folder } = JSON.parse(line);
  server = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
  server.once('error', (error) => process.stderr.write(`${error.message}\n`));
  server.once('close', async () => {
    await rm(folder, { recursive: true, force: true });
    process.exit();
  });
});
// An immediate shutdown: nobody needs the data again.
lines.once('close', () => (server ? server.kill('SIGQUIT') : process.exit()));
// Nobody may read what it says any more.
process.stderr.on('error', () => {});
