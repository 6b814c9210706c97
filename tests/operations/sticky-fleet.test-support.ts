/** Three processes of option H on this machine. They share only the key of the state. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';
import { typescriptProgram } from '@mrtr/matrix/processes';

/** The instances' names, in the router's configuration and in `locate`. */
const INSTANCES = ['i1', 'i2', 'i3'];

export interface StickyFleet {
  /** The address of each instance, as `host:port`. */
  readonly addresses: readonly string[];
  close(): Promise<void>;
}

const PROGRAM = typescriptProgram(
  fileURLToPath(new URL('./sticky-instance.test-support.ts', import.meta.url)),
);

/** Starts the instances; resolves when all listen. */
export async function startFleet(): Promise<StickyFleet> {
  const STATE_KEY = randomBytes(32).toString('base64url');
  const processes = INSTANCES.map(
    (INSTANCE) => new RunningProcess({ ...PROGRAM, env: { INSTANCE, STATE_KEY } }, { ipc: true }),
  );
  const close = async () => {
    await Promise.all(processes.map((one) => one.stop(() => one.child.disconnect())));
  };
  try {
    return { addresses: await Promise.all(processes.map((one) => one.message<string>())), close };
  } catch (error) {
    await close();
    throw error;
  }
}
