/** Three processes of option H on this machine. They share the key of the state, and nothing else. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The instances' names, in the router's configuration and in `locate`. */
export const INSTANCES = ['i1', 'i2', 'i3'] as const;
export type InstanceName = (typeof INSTANCES)[number];

/** Running instances. */
export interface Fleet {
  /** Where each listens, as `host:port`. */
  readonly addresses: Readonly<Record<InstanceName, string>>;
  /** Ends one at once, as a crash would. */
  kill(name: InstanceName): Promise<void>;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../instance.mjs', import.meta.url));
const PATIENCE_MS = 20_000;

/** Starts them; resolves when all are listening. */
export async function startFleet(): Promise<Fleet> {
  const STATE_KEY = randomBytes(32).toString('base64url');
  const processes = INSTANCES.map((INSTANCE) =>
    fork(PROGRAM, {
      env: { ...process.env, INSTANCE, STATE_KEY },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
  const close = async () => void (await Promise.all(processes.map((child) => end(child))));
  try {
    const listening = await Promise.all(processes.map(addressOf));
    const byName = <T>(values: readonly T[]) =>
      Object.fromEntries(INSTANCES.map((name, at) => [name, values[at]])) as Record<InstanceName, T>;
    return {
      addresses: byName(listening),
      kill: (name) => end(byName(processes)[name], 'SIGKILL'),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`An instance ended with code ${code} before it was listening.`);
  });
  // It may also lose the race below, and end when nobody is listening to it any more.
  ended.catch(() => {});
  const [address] = await Promise.race([once(child, 'message', { signal }), ended]);
  return address as string;
}

/** Lets a child finish what it is doing, or with SIGKILL not; one that takes too long is killed. */
async function end(child: ChildProcess, signal?: 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  if (signal) child.kill(signal);
  else if (child.connected) child.disconnect();
  const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await exit;
  clearTimeout(patience);
}
