/**
 * DBOS in this process, which can run it only once: its configuration, executor and registry are global. Stores of equal
 * configuration share it. Closing the last one shuts it down.
 */
import { AsyncResource } from 'node:async_hooks';
import { DBOS, DBOSWorkflowConflictError } from '@dbos-inc/dbos-sdk';
import { InvalidOption } from '@mrtr/core';
import { processWide } from '@mrtr/core/internal';
import { Pool } from 'pg';
import { callTable, tableOfCalls } from './call-table.ts';
import { locksIn } from './locks.ts';
import type { Settings } from './options.ts';
import { newInstance, presenceOn } from './presence.ts';

const NAME = 'mrtr-linear';
const QUEUE = `${NAME}-`;
// How often DBOS polls for calls that this instance took over. Each poll is four statements.
const LOOK_EVERY_MS = 100;
/** The step as which DBOS records a message that a workflow received. */
const RECEIVED = 'DBOS.recv';

/**
 * Never settles. DBOS records a workflow that returns or throws as over. If it hangs, another instance can resume it.
 */
export const NEVER: Promise<never> = new Promise(() => {});

interface Shared {
  /** The code of each workflow that a store of this process has started or taken over, until DBOS runs it. */
  readonly expected: Map<string, () => Promise<void>>;
  workflow?: typeof serve;
  current?: { readonly key: string; readonly runtime: Promise<Runtime>; users: number } | undefined;
  closing: Promise<void>;
}

// DBOS accepts a workflow name once per process, and a process may load this module more than once.
const shared = processWide<Shared>('linear-dbos', () => ({
  expected: new Map(),
  closing: Promise.resolve(),
}));
const { expected } = shared;

async function serve() {
  const id = DBOS.workflowID ?? '';
  const run = expected.get(id);
  expected.delete(id);
  await (run ? run() : NEVER);
}

/** DBOS after its launch. */
export type Runtime = Awaited<ReturnType<typeof launch>>;

/**
 * The runtime of this process. Launches DBOS if it does not run yet.
 *
 * @throws InvalidOption when DBOS runs with another configuration, or other code launched it.
 */
export async function acquireRuntime(options: Settings): Promise<Runtime> {
  // Another runtime may begin to close while this waits.
  let waited: Promise<void>;
  do {
    waited = shared.closing;
    await waited;
  } while (waited !== shared.closing);
  const { postgres, schema, version, poolSize } = options;
  const key = JSON.stringify([postgres, schema, version, poolSize]);
  if (shared.current && shared.current.key !== key)
    throw new InvalidOption(
      'A DbosStore of another configuration is open in this process, and DBOS can be configured once. Give all ' +
        'stores of a process the same postgres, schema, version and poolSize, or close the other one first.',
    );
  shared.current ??= { key, runtime: launch(options), users: 0 };
  const mine = shared.current;
  mine.users++;
  try {
    return await mine.runtime;
  } catch (error) {
    if (shared.current === mine) shared.current = undefined;
    throw error;
  }
}

async function launch(options: Settings) {
  if (DBOS.isInitialized())
    throw new InvalidOption(
      'Other code has launched DBOS in this process, and there can be only one. Run DbosStore in another process.',
    );
  const { schema, takeOverSeconds, version, onerror } = options;
  const pool = poolOf(options);
  const instance = newInstance();
  const queue = QUEUE + instance;
  const locks = locksIn(pool, schema);
  const calls = callTable(pool, schema, locks);
  const presence = presenceOn(pool, takeOverSeconds * 1000, onerror);
  // Work that runs outside every workflow is not recorded as a step of the caller's workflow.
  const outside = new AsyncResource(NAME);
  const runOutside = <T>(work: () => Promise<T>) => outside.runInAsyncScope(work);
  let isClosed = false;
  shared.workflow ??= DBOS.registerWorkflow(serve, { name: NAME });
  const workflow = shared.workflow;

  async function registerQueue() {
    await DBOS.registerQueue(queue, { minPollingIntervalMs: LOOK_EVERY_MS, onConflict: 'never_update' });
  }

  async function close() {
    isClosed = true;
    // Do not delete the queue: DBOS would wait for a lost database. Other instances delete it.
    if (DBOS.isInitialized()) await DBOS.shutdown();
    presence.close();
    await pool.end();
  }

  try {
    await presence.hold(instance);
    DBOS.setConfig({
      name: NAME,
      systemDatabasePool: pool,
      systemDatabaseSchemaName: schema,
      executorID: instance,
      applicationVersion: version,
      listenQueues: [queue],
      maxConcurrentQueueDispatches: 1,
      enableOTLP: false,
      tracingEnabled: false,
      // After the close, DBOS still polls for the results of parked calls, and logs each failure.
      logger: quietly((error) => isClosed || onerror(error)),
    });
    await locks.create();
    await locks.withLaunchLock(async () => {
      await DBOS.launch();
      await pool.query(tableOfCalls(schema));
    });
    await registerQueue();
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }

  return {
    calls,
    presence,

    /** Ends one use of the runtime. The last one shuts it down. */
    async release() {
      if (!shared.current || --shared.current.users > 0) return;
      shared.current = undefined;
      shared.closing = close();
      await shared.closing;
    },

    /** Runs a new workflow here. */
    async start(id: string, run: () => Promise<void>) {
      expected.set(id, run);
      const start = () => DBOS.startWorkflow(workflow, { workflowID: id })();
      try {
        // Leave the asynchronous context only inside a workflow: a handler may rely on that of its request.
        const handle = await (DBOS.isWithinWorkflow() ? runOutside(start) : start());
        // The workflow publishes its own result.
        handle.getResult().catch(() => {});
      } catch (error) {
        expected.delete(id);
        throw error;
      }
    },

    /** Prepares to run a workflow that another executor began. */
    expect: (id: string, run: () => Promise<void>) => void expected.set(id, run),

    /** Undoes `expect`. */
    unexpect: (id: string) => void expected.delete(id),

    /** Resumes an expected workflow here. Returns false if DBOS has recorded it as over. */
    resume: (id: string) =>
      runOutside(async () => {
        // While this instance had no session, another instance may have deleted the queue.
        await registerQueue();
        await DBOS.resumeWorkflow(id, { queueName: queue });
        const status = await DBOS.getWorkflowStatus(id);
        return status?.status === 'ENQUEUED' || status?.status === 'PENDING';
      }),

    /** Whether the call has received the answers to `turn`. If so, the next turn runs or has run. */
    async hasAnswers(id: string, turn: number) {
      const steps = (await runOutside(() => DBOS.listWorkflowSteps(id))) ?? [];
      return steps.filter(({ name }) => name === RECEIVED).length >= turn;
    },

    /** Sends a workflow a message on `topic`. The workflow reads the first one; DBOS keeps one message per `key`. */
    send: (id: string, message: string, topic: string, key = topic) =>
      runOutside(() => DBOS.send(id, message, topic, key)),

    /** Deletes everything about these calls. */
    remove: (ids: readonly string[]) =>
      runOutside(async () => {
        // Delete our row last. If this process dies in between, the next sweep finds the call again.
        await DBOS.deleteWorkflows([...ids]);
        await calls.remove(ids);
      }),

    /** Deletes the queues of dead instances. */
    removeQueues: () =>
      runOutside(async () => {
        const names = (await DBOS.listQueues()).map(({ name }) => name);
        const instances = names
          .filter((name) => name.startsWith(QUEUE))
          .map((name) => name.slice(QUEUE.length));
        for (const dead of await calls.findDead(instances)) await DBOS.deleteQueue(QUEUE + dead);
      }),
  };
}

function poolOf({ postgres, poolSize, onerror }: Settings) {
  const pool = new Pool({
    connectionString: postgres,
    max: poolSize,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    application_name: NAME,
  });
  // A connection may end before it has an error listener. Without this one, the error would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool.on('error', onerror);
}

/** DBOS's log, reduced to errors. */
const quietly = (onerror: (error: unknown) => unknown) => ({
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (entry: unknown, details?: { readonly error?: unknown }) => {
    const error = details?.error ?? entry;
    // Expected after another instance has taken over a call.
    if (error instanceof DBOSWorkflowConflictError) return;
    onerror(error instanceof Error ? error : new Error(`DBOS: ${String(entry)}`));
  },
});
