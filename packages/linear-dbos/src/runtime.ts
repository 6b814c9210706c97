/**
 * DBOS in this process. There can be only one: its configuration, executor and registry belong to the process. Stores
 * with equal configuration share it, and closing the last one shuts it down.
 */
import { AsyncResource } from 'node:async_hooks';
import { DBOS, DBOSWorkflowConflictError } from '@dbos-inc/dbos-sdk';
import { InvalidOption } from '@mrtr/core';
import { processWide } from '@mrtr/core/kit';
import { Pool } from 'pg';
import { CallTable, tableOfCalls } from './call-table.ts';
import { Locks } from './locks.ts';
import type { Settings } from './options.ts';
import { newInstance, Presence } from './presence.ts';

const NAME = 'mrtr-linear';
const QUEUE = `${NAME}-`;
// How often DBOS looks for calls that this instance took over. Each look is four statements.
const LOOK_EVERY_MS = 100;
/** The step in which DBOS records a message that a workflow has received. */
const RECEIVED = 'DBOS.recv';

/**
 * Never settles. DBOS records a workflow that returns or throws as over; another instance can resume one that hangs.
 */
export const NEVER: Promise<never> = new Promise(() => {});

interface Shared {
  /** The code to run when DBOS runs a workflow here. A store of this process has started it or taken it over. */
  readonly expected: Map<string, () => Promise<void>>;
  workflow?: typeof serve;
  current?: { readonly key: string; readonly runtime: Promise<Runtime>; users: number } | undefined;
  closing: Promise<void>;
}

// DBOS accepts a name once per process. Two packages or a test runner may load this module more than once.
const shared = processWide<Shared>('linear-dbos', () => ({
  expected: new Map(),
  closing: Promise.resolve(),
}));
const { expected } = shared;

async function serve(): Promise<void> {
  const id = DBOS.workflowID ?? '';
  const run = expected.get(id);
  expected.delete(id);
  await (run ? run() : NEVER);
}

/** DBOS, launched. */
export class Runtime {
  readonly calls: CallTable;
  readonly presence: Presence;
  readonly #pool: Pool;
  readonly #locks: Locks;
  readonly #queue: string;
  // Run outside every workflow, so that this work is not a step of the caller's workflow.
  readonly #outside = new AsyncResource(NAME);
  #closed = false;

  private constructor(pool: Pool, instance: string, { schema, takeOverSeconds, onerror }: Settings) {
    this.#pool = pool;
    this.#queue = QUEUE + instance;
    this.#locks = new Locks(pool, schema);
    this.calls = new CallTable(pool, schema, this.#locks);
    this.presence = new Presence(pool, takeOverSeconds * 1000, onerror);
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
    const { postgres, schema, version, poolSize, takeOverSeconds } = options;
    const key = JSON.stringify([postgres, schema, version, poolSize, takeOverSeconds]);
    if (shared.current && shared.current.key !== key) {
      throw new InvalidOption(
        'A DbosStore of another configuration is open in this process, and DBOS can be configured once. Give all ' +
          'stores of a process the same postgres, schema, version, poolSize and takeOverSeconds, or close the other one first.',
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

  /** Gives up one use of the runtime. */
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
      // Leave the asynchronous context only if it is a workflow's: a handler may rely on that of its request.
      const handle = await (DBOS.isWithinWorkflow() ? this.#outside.runInAsyncScope(start) : start());
      // The workflow publishes its own result.
      handle.getResult().catch(() => {});
    } catch (error) {
      expected.delete(id);
      throw error;
    }
  }

  /** Prepares to run a workflow that another executor has begun. */
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
      // Another instance deletes the queue if it sweeps while this one has lost its session.
      await this.#registerQueue();
      await DBOS.resumeWorkflow(id, { queueName: this.#queue });
      const status = await DBOS.getWorkflowStatus(id);
      return status?.status === 'ENQUEUED' || status?.status === 'PENDING';
    });
  }

  /** Whether the call has received the answers to `turn`: then the turn after it runs, or did. */
  async hasAnswers(id: string, turn: number): Promise<boolean> {
    const steps = await this.#outside.runInAsyncScope(() => DBOS.listWorkflowSteps(id));
    return (steps ?? []).filter(({ name }) => name === RECEIVED).length >= turn;
  }

  /** Sends a workflow a message on `topic`. The first message counts. Of messages with equal `key`, DBOS keeps one. */
  async send(id: string, message: string, topic: string, key = topic): Promise<void> {
    await this.#outside.runInAsyncScope(() => DBOS.send(id, message, topic, key));
  }

  /** Deletes everything about these calls. */
  async remove(ids: readonly string[]): Promise<void> {
    await this.#outside.runInAsyncScope(async () => {
      // Delete our row last: if this process dies in between, the next sweep still finds the call.
      await DBOS.deleteWorkflows([...ids]);
      await this.calls.remove(ids);
    });
  }

  /** Deletes the queues of processes that are gone. */
  async removeQueues(): Promise<void> {
    await this.#outside.runInAsyncScope(async () => {
      const queues = await DBOS.listQueues();
      const instances = queues.flatMap(({ name }) =>
        name.startsWith(QUEUE) ? [name.slice(QUEUE.length)] : [],
      );
      for (const instance of await this.calls.dead(instances)) await DBOS.deleteQueue(QUEUE + instance);
    });
  }

  static async #launch(options: Settings): Promise<Runtime> {
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
        // DBOS keeps polling for the results of parked calls, and logs that it cannot.
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

  async #registerQueue(): Promise<void> {
    await DBOS.registerQueue(this.#queue, {
      minPollingIntervalMs: LOOK_EVERY_MS,
      onConflict: 'never_update',
    });
  }

  async #close(): Promise<void> {
    this.#closed = true;
    // Other instances delete the queue: DBOS would wait here for a database that is gone.
    if (DBOS.isInitialized()) await DBOS.shutdown();
    this.presence.close();
    await this.#pool.end();
  }
}

function poolOf({ postgres, poolSize, onerror }: Settings): Pool {
  const pool = new Pool({
    connectionString: postgres,
    max: poolSize,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    application_name: NAME,
  });
  // A connection may end while it is made, before it has an error listener. That error would end the process.
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
