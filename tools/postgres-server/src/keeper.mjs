// Makes a folder, and runs programs in it while its stdin is open. When its parent ends or is killed, it ends the programs
// and deletes the folder. It writes lines of JSON to stdout: the folder, and an answer to each line of its stdin, which is
// the reason of a failure, or empty. A line is a program to run, to its end or until it has written `ready`; or `"end"`,
// which kills the running one, and keeps the folder.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = mkdtempSync(join(tmpdir(), 'mrtr-postgres-'));
let running;
let ending = false;
let over = false;
const answer = (text) => process.stdout.write(`${JSON.stringify(text)}\n`);

function run({ program, args, options, ready }) {
  let said = '';
  let answered = false;
  running = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  running.once('error', ({ message }) => {
    said += message;
  });
  running.stderr.setEncoding('utf8').on('data', (text) => {
    said = `${said}${text}`.slice(-4000);
    if (answered || !ready || !said.includes(ready)) return;
    answered = true;
    answer('');
  });
  running.once('close', (code) => {
    running = undefined;
    if (over) leave();
    else if (ending || (code === 0 && !ready)) answer('');
    else if (!answered) answer(`${program} ended with code ${code}, and said: ${said}`);
    ending = false;
  });
}

function leave() {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const asked = JSON.parse(line);
  ending = asked === 'end';
  if (ending) running.kill('SIGQUIT');
  else run(asked);
});
// An immediate shutdown cuts connections, as a crash does.
lines.once('close', () => {
  over = true;
  if (running) running.kill('SIGQUIT');
  else leave();
});
// The reader of our output may be gone.
process.stdout.on('error', () => {});
answer(folder);
