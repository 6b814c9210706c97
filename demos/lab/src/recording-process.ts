/** Runs the program that records, in a process of its own. */
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';
import { typescriptProgram } from '@mrtr/matrix/processes';

/** Records everything into `folder`. The promise rejects with the program's output where it fails. */
export function recordInto(folder: string): { readonly done: Promise<void>; stop(): Promise<void> } {
  const program = fileURLToPath(new URL('./record-program.ts', import.meta.url));
  const running = new RunningProcess(typescriptProgram(program, folder));
  const done = running.ended.then((code) => {
    if (code !== 0) throw new Error(`Recording ended with ${code}: ${running.said.err.slice(-2000)}`);
  });
  return { done, stop: () => (running.alive ? running.kill() : Promise.resolve()) };
}
