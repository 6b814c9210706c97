// Runs PostgreSQL for as long as its stdin is open: however the process that started this one ends, killed included,
// the server ends too, and its folder is deleted. On stdin comes as a line of JSON what to run; then, where the server
// is to end and its folder to stay, `end`.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin });
let server;
let folderStays = false;
lines.on('line', (line) => {
  if (line === 'end') {
    folderStays = true;
    return;
  }
  const { program, args, options, folder } = JSON.parse(line);
  server = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
  server.once('error', (error) => process.stderr.write(`${error.message}\n`));
  server.once('close', () => {
    if (!folderStays && process.stdin.readableEnded) rmSync(folder, { recursive: true, force: true });
    process.exit();
  });
});
// Not in order, but at once: connections are cut, as in a crash.
lines.once('close', () => (server ? server.kill('SIGQUIT') : process.exit()));
// Nobody may read any more what the server says.
process.stderr.on('error', () => {});
