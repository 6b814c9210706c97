/** Runs a process of `server.ts` while one shape is tested. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { LoadedOption } from '@mrtr/options';
import { HERE } from './suite.ts';

const PATIENCE_MS = 30_000;

/** Runs `use` with the address of a server in `shape`. The server has ended when this resolves. */
export async function withServer<T>(
  shape: Pick<LoadedOption, 'id'>,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const child = fork('server.ts', ['--shape', shape.id], {
    cwd: HERE,
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let stderr = '';
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const exit = once(child, 'exit');
  try {
    const started = once(child, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) });
    const ended = exit.then(() => Promise.reject(new Error(`The server did not start. ${stderr.trim()}`)));
    const [url] = await Promise.race([started, ended]);
    return await use(url as string);
  } finally {
    if (child.connected) child.disconnect();
    const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    await exit;
    clearTimeout(patience);
  }
}
