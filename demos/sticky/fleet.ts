/** Three processes of option H on this machine. They share only the key of the state. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';
import { typescriptProgram } from '@mrtr/matrix/processes';

/** The instances' names, in the router's configuration and in `locate`. */
export const INSTANCES = ['i1', 'i2', 'i3'] as const;
type InstanceName = (typeof INSTANCES)[number];

export interface Fleet {
  /** The address of each instance, as `host:port`. */
  readonly addresses: Readonly<Record<InstanceName, string>>;
  close(): Promise<void>;
}

const PROGRAM = typescriptProgram(fileURLToPath(new URL('./instance.ts', import.meta.url)));

/** Starts the instances; resolves when all listen. */
export async function startFleet(): Promise<Fleet> {
  const STATE_KEY = randomBytes(32).toString('base64url');
  const start = (INSTANCE: InstanceName) =>
    new RunningProcess({ ...PROGRAM, env: { INSTANCE, STATE_KEY } }, { ipc: true });
  const processes = { i1: start('i1'), i2: start('i2'), i3: start('i3') };
  const close = async () => {
    await Promise.all(Object.values(processes).map((one) => one.stop(() => one.child.disconnect())));
  };
  try {
    const [i1, i2, i3] = await Promise.all(INSTANCES.map((name) => processes[name].message<string>()));
    const addresses = { i1, i2, i3 } as Record<InstanceName, string>;
    return { addresses, close };
  } catch (error) {
    await close();
    throw error;
  }
}
