/** Deployments in real processes, for any number of conversations, each with its own scope, world and key. */

import type { StartHosting } from '@mrtr/comparison/calls';
import type { Hosting } from '@mrtr/harness';
import {
  createDatabase,
  type InstanceProcess,
  processFleet,
  type SubjectModule,
  startInstance,
} from '@mrtr/matrix/processes';

type Locate = (subject: { readonly id: string }) => SubjectModule;

/** A hosting that knows the process to kill. */
export interface ProcessHosting extends Hosting {
  /** The process that served the latest round. */
  readonly servedLast: () => InstanceProcess | undefined;
}

/** Starts one process with sessions, several without that take turns, and the database of all. */
export async function startProcesses(locate: Locate, { fleet = 3 } = {}) {
  const database = createDatabase();
  const starting = Array.from({ length: 1 + fleet }, () => startInstance(database));
  const instances = await Promise.all(starting).catch((error: unknown) => {
    database.close();
    throw error;
  });

  /** Hosts a conversation on the hosting of its request: `http` or `processes`. */
  const startHosting: StartHosting<ProcessHosting> = async (context) => {
    const { subject, hosting, legacy } = context.request;
    const opening = { ...locate(subject), key: Buffer.from(context.key).toString('base64'), legacy };
    if (hosting !== 'http' && hosting !== 'processes')
      throw new Error(`'${hosting}' hosting does not use separate processes.`);
    const isSingle = hosting === 'http';
    const used = isSingle ? instances.slice(0, 1) : instances.slice(1).filter(({ alive }) => alive);
    const serve = isSingle ? 'sessions' : 'stateless';
    const hosted = processFleet(database, context);
    const open = (one: InstanceProcess, at: number) =>
      hosted.open(`i${at + 1}`, one, (place) => one.open(place, { ...opening, serve }));
    await Promise.all(used.map(open));
    return hosted;
  };

  async function close() {
    await Promise.all(instances.filter(({ alive }) => alive).map((instance) => instance.stop()));
    database.close();
  }

  return { startHosting, close };
}

export type Processes = Awaited<ReturnType<typeof startProcesses>>;
