/**
 * DBOS in this process, which can run it only once: its configuration, executor and registry are global. Stores of equal
 * configuration share it. Closing the last one shuts it down.
 */
import { AsyncResource } from 'node:async_hooks';
import { DBOS, DBOSWorkflowConflictError } from '@dbos-inc/dbos-sdk';
import { InvalidOption } from '@mrtr/core';
import { processWide } from '@mrtr/core/internal';
import { Pool } from 'pg';
import { type CallTable, callTable, tableOfCalls } from './call-table.ts';
import { type Locks, locksIn } from './locks.ts';
import type { Settings } from './options.ts';
import { newInstance, type Presence, presenceOn } from './presence.ts';

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
export class Runtime {
  readonly calls: CallTable;
  readonly presence: Presence;
  readonly #pool: Pool;
  readonly #locks: Locks;
  readonly #queue: string;
  // Work that runs outside every workflow is not recorded as a step of the caller's workflow.
  readonly #outside = new AsyncResource(NAME);
  #closed = false;

  private constructor(pool: Pool, instance: string, { schema, takeOverSeconds, onerror }: Settings) {
    this.#pool = pool;
    this.#queue = QUEUE + instance;
    this.#locks = locksIn(pool, schema);
    this.calls = callTable(pool, schema, this.#locks);
    this.presence = presenceOn(pool, takeOverSeconds * 1000, onerror);
  }

  /**
   * The runtime of this process. Launches DBOS if it does not run yet.
   *
   * @throws InvalidOption when DBOS runs with another configuration, or other code launched it.
   */
  static async acquire(options: Settings): Promise<Runtime> {
    // Another runtime may begin to close while this waits.
    let waited: Promise<void>;
    do {
      waited = shared.closing;
      await waited;
    } while (waited !== shared.closing);
    const { postgres, schema, version, poolSize } = options;
    const key = JSON.stringify([postgres, schema, version, poolSize]);
    if (shared.current && shared.current.key !== key) {
      throw new InvalidOption(
        'A DbosStore of another configuration is open in this process, and DBOS can be configured once. Give all ' +
          'stores of a process the same postgres, schema, version and poolSize, or close the other one first.',
      );
    }
    shared.current ??= { key, runtime: Runtime.#launch(options), users: 0 };
    const mine = shared.current;
    mine.users++;
    try {
      return await mine.runtime;
    } catch (error) {
      if (shared.current === mine) shared.current = undefined;
      throw error;
    }
  }

  /** Ends one use of the runtime. The last one shuts it down. */
  async release(): Promise<void> {
    if (!shared.current || --shared.current.users > 0) return;
    shared.current = undefined;
    shared.closing = this.#close();
    await shared.closing;
  }

  /** Runs a new workflow here. */
  async start(id: string, run: () => Promise<void>): Promise<void> {
    expected.set(id, run);
    const start = () => DBOS.startWorkflow(shared.workflow as typeof serve, { workflowID: id })();
    try {
      // Leave the asynchronous context only inside a workflow: a handler may rely on that of its request.
      const handle = await (DBOS.isWithinWorkflow() ? this.#outside.runInAsyncScope(start) : start());
      // The workflow publishes its own result.
      handle.getResult().catch(() => {});
    } catch (error) {
      expected.delete(id);
      throw error;
    }
  }

  /** Prepares to run a workflow that another executor began. */
  expect(id: string, run: () => Promise<void>): void {
    expected.set(id, run);
  }

  /** Undoes `expect`. */
  unexpect(id: string): void {
    expected.delete(id);
  }

  /** Resumes an expected workflow here. Returns false if DBOS has recorded it as over. */
  async resume(id: string): Promise<boolean> {
    return this.#outside.runInAsyncScope(async () => {
      // While this instance had no session, another instance may have deleted the queue.
      await this.#registerQueue();
      await DBOS.resumeWorkflow(id, { queueName: this.#queue });
      const status = await DBOS.getWorkflowStatus(id);
      return status?.status === 'ENQUEUED' || status?.status === 'PENDING';
    });
  }

  /** Whether the call has received the answers to `turn`. If so, the next turn runs or has run. */
  async hasAnswers(id: string, turn: number): Promise<boolean> {
    const steps = await this.#outside.runInAsyncScope(() => DBOS.listWorkflowSteps(id));
    return (steps ?? []).filter(({ name }) => name === RECEIVED).length >= turn;
  }

  /** Sends a workflow a message on `topic`. The workflow reads the first one; DBOS keeps one message per `key`. */
  async send(id: string, message: string, topic: string, key = topic): Promise<void> {
    await this.#outside.runInAsyncScope(() => DBOS.send(id, message, topic, key));
  }

  /** Deletes everything about these calls. */
  async remove(ids: readonly string[]): Promise<void> {
    await this.#outside.runInAsyncScope(async () => {
      // Delete our row last. If this process dies in between, the next sweep finds the call again.
      await DBOS.deleteWorkflows([...ids]);
      await this.calls.remove(ids);
    });
  }

  /** Deletes the queues of dead instances. */
  async removeQueues(): Promise<void> {
    await this.#outside.runInAsyncScope(async () => {
      const queues = await DBOS.listQueues();
      const instances = queues.flatMap(({ name }) =>
        name.startsWith(QUEUE) ? [name.slice(QUEUE.length)] : [],
      );
      for (const instance of await this.calls.findDead(instances)) await DBOS.deleteQueue(QUEUE + instance);
    });
  }

  static async #launch(options: Settings) {
    if (DBOS.isInitialized()) {
      throw new InvalidOption(
        'Other code has launched DBOS in this process, and there can be only one. Run DbosStore in another process.',
      );
    }
    const { schema, version, onerror } = options;
    const pool = poolOf(options);
    const instance = newInstance();
    const runtime = new Runtime(pool, instance, options);
    shared.workflow ??= DBOS.registerWorkflow(serve, { name: NAME });
    try {
      await runtime.presence.hold(instance);
      DBOS.setConfig({
        name: NAME,
        systemDatabasePool: pool,
        systemDatabaseSchemaName: schema,
        executorID: instance,
        applicationVersion: version,
        listenQueues: [runtime.#queue],
        maxConcurrentQueueDispatches: 1,
        enableOTLP: false,
        tracingEnabled: false,
        // After the close, DBOS still polls for the results of parked calls, and logs each failure.
        logger: quietly((error) => runtime.#closed || onerror(error)),
      });
      await runtime.#locks.create();
      await runtime.#locks.withLaunchLock(async () => {
        await DBOS.launch();
        await pool.query(tableOfCalls(schema));
      });
      await runtime.#registerQueue();
      return runtime;
    } catch (error) {
      await runtime.#close().catch(() => {});
      throw error;
    }
  }

  async #registerQueue() {
    await DBOS.registerQueue(this.#queue, {
      minPollingIntervalMs: LOOK_EVERY_MS,
      onConflict: 'never_update',
    });
  }

  async #close() {
    this.#closed = true;
    // Do not delete the queue: DBOS would wait for a lost database. Other instances delete it.
    if (DBOS.isInitialized()) await DBOS.shutdown();
    this.presence.close();
    await this.#pool.end();
  }
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
const quietly = (onerror: (error: Error) => unknown) => ({
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
