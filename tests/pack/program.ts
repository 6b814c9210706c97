/** Runs programs to their end. */
import { execFile } from 'node:child_process';

export interface Ended {
  readonly stdout: string;
  readonly problem: string | undefined;
}

/** Runs a program, for a quarter of an hour at most. */
export const run = (file: string, args: readonly string[], cwd: string): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(file, args, { cwd, timeout: 900_000, maxBuffer: 1e8 }, (error, stdout, stderr) => {
      resolve({ stdout, problem: error ? `${error.message.split('\n')[0]}\n${stdout}${stderr}` : undefined });
    });
  });
