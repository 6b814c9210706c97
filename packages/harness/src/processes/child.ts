/** Starts processes of which none outlives this one. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

const running = new Map<ChildProcess, () => void>();

/** Kills every process that was started here and runs. */
export function killAll(): void {
  for (const kill of running.values()) kill();
}

/** Starts a process. `kill` is called if it still runs when this one exits. */
export function startChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
  kill: () => void,
): ChildProcess {
  const child = spawn(command, [...args], options);
  // It may end before it has read everything.
  child.stdin?.on('error', () => {});
  if (running.size === 0) process.on('exit', killAll);
  running.set(child, kill);
  const forget = () => {
    running.delete(child);
    if (running.size === 0) process.off('exit', killAll);
  };
  return child.once('exit', forget).once('error', forget);
}

export const isAlive = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;
