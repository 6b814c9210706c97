/** Starts processes of which none outlives this one. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/** Whether a process can be started in a group of its own, so that its children can be killed with it. */
export const grouped = process.platform !== 'win32';

/** Kills a process and its group. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (grouped) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // The process has ended.
  }
}

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
