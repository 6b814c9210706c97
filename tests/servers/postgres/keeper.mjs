// Makes a folder, and runs programs in it, for as long as its stdin is open: however the process that started this one
// ends, killed included, the programs end too, and the folder is deleted. It says the folder on stdout. On stdin comes as
// lines of JSON what to run, one after the other; when a program has ended, its exit code comes on stdout. `end` ends what
// runs, and leaves the folder.
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
// Not in order, but at once: connections are cut, as in a crash.
lines.once('close', () => {
  over = true;
  if (running) running.kill('SIGQUIT');
  else leave();
});
// Nobody may read any more what is said.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.stdout.write(`${folder}\n`);
