/** Runs the program that records, in a process of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';
import { typescriptProgram } from '@mrtr/matrix/processes';
import { recordedFolder, recordingsStamp } from './page.ts';

/** Records everything, unless the recordings are up to date. Rejects with the program's output if it fails. */
export function record() {
  const stamp = recordingsStamp();
  if (stamp.isFresh) return { done: Promise.resolve(), stop: () => Promise.resolve() };
  stamp.begin();
  const program = fileURLToPath(new URL('./record-program.ts', import.meta.url));
  const running = new RunningProcess(typescriptProgram(program, recordedFolder));
  const done = running.ended.then((code) => {
    if (code !== 0) throw new Error(`Recording ended with ${code}: ${running.output.err.slice(-2000)}`);
    // A missing recording is tried again the next time.
    const index = readFileSync(join(recordedFolder, 'index.js'), 'utf8');
    if (index.includes('"missing":{}')) stamp.end();
  });
  return { done, stop: () => (running.alive ? running.kill() : Promise.resolve()) };
}
