// `node tap-stdio.mjs LOG COMMAND ARGS…` runs a program, and records every input and output line in LOG.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [log, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const tapped = (stream, from) =>
  createInterface({ input: stream }).on('line', (text) => {
    appendFileSync(log, `${JSON.stringify({ from, text })}\n`);
  });
tapped(process.stdin, 'client');
tapped(child.stdout, 'server');
process.stdin.pipe(child.stdin).on('error', () => {});
child.stdout.pipe(process.stdout);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
  process.stdin.destroy();
});
