// Makes a folder, and runs programs in it while its stdin is open. When its parent ends or is killed, it ends the programs
// and deletes the folder. It prints the folder on stdout. It reads the programs to run from stdin, one line of JSON each,
// and prints the exit code of each. `end` kills the running program, and keeps the folder.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = mkdtempSync(join(tmpdir(), 'mrtr-postgres-'));
let running;
let over = false;

function run({ program, args, options }) {
  running = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
  running.once('error', (error) => process.stderr.write(`${error.message}\n`));
  running.once('close', (code) => {
    running = undefined;
    if (over) leave();
    else process.stdout.write(`${code}\n`);
  });
}

function leave() {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line === 'end') running?.kill('SIGQUIT');
  else run(JSON.parse(line));
});
// An immediate shutdown cuts connections, as a crash does.
lines.once('close', () => {
  over = true;
  if (running) running.kill('SIGQUIT');
  else leave();
});
// The reader of our output may be gone.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.stdout.write(`${folder}\n`);
