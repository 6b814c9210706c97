/**
 * Ends with the package manager that started this program. npm and npx start a shell, which dies of SIGTERM and does not
 * pass it on, so this program has to see that it is gone.
 */
import { execFile, execFileSync } from 'node:child_process';

const MANAGER = /^(?:npm|pnpm|yarn)\b/;
const SHELL = /^(?:ba|da)?sh$/;
const LOOK_MS = 1000;

/** The processes from `pid` to below its topmost package manager, if only shells and managers stand between. */
function chainFrom(pid: string, ps: string): readonly string[] {
  const [, parent = ''] = new RegExp(`^ *${pid} +(\\d+)`, 'm').exec(ps) ?? [];
  const [, name = ''] = new RegExp(`^ *${parent} +\\d+ +(.*)$`, 'm').exec(ps) ?? [];
  if (!MANAGER.test(name) && !SHELL.test(name)) return [];
  const above = chainFrom(parent, ps);
  return above.length > 0 || MANAGER.test(name) ? [pid, ...above] : [];
}

/** Looks who started this program. The returned function calls `end` when one of them is gone. */
export function findManagers(): (end: () => void) => void {
  try {
    const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' });
    const args = ['-o', 'ppid=', '-p', chainFrom(`${process.pid}`, table).join()];
    const parents = execFileSync('ps', args, { encoding: 'utf8', stdio: 'pipe' });
    // A dead process may stay in the table, but its children have another parent at once.
    const look = (end: () => void) => execFile('ps', args, (error, now) => error || now === parents || end());
    return (end) => setInterval(look, LOOK_MS, end).unref();
  } catch {
    // It has none, or there is no such `ps`.
    return () => {};
  }
}
