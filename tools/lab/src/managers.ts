/**
 * Ends with the package manager that started this program. npm and npx start a shell, which dies of SIGTERM and does not
 * pass it on, so this program has to see that it is gone.
 */
import { execFileSync } from 'node:child_process';

const MANAGER = /^(?:npm|pnpm|yarn)\b/;
const SHELL = /^(?:ba|da)?sh$/;
const LOOK_MS = 1000;

/** The processes above `pid` up to its topmost package manager, if only shells and managers stand between. */
function managersOf(pid: number, ps: string): readonly number[] {
  const [, parent = ''] = new RegExp(`^ *${pid} +(\\d+)`, 'm').exec(ps) ?? [];
  const [, name = ''] = new RegExp(`^ *${parent} +\\d+ +(.*)$`, 'm').exec(ps) ?? [];
  if (!MANAGER.test(name) && !SHELL.test(name)) return [];
  const above = managersOf(Number(parent), ps);
  return above.length > 0 || MANAGER.test(name) ? [Number(parent), ...above] : [];
}

function listManagers() {
  // Package managers name the script that they run.
  if (process.env.npm_lifecycle_event === undefined) return [];
  try {
    return managersOf(
      process.pid,
      execFileSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' }),
    );
  } catch {
    // There is no such `ps`.
    return [];
  }
}

/** Looks who started this program. The returned function calls `end` when one of them is gone. */
export function findManagers(): (end: () => void) => void {
  const managers = listManagers();
  return (end) => setInterval(() => managers.every(isRunning) || end(), LOOK_MS).unref();
}

function isRunning(pid: number) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
