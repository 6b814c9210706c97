/**
 * DBOS in this process. There can be one: its configuration, its executor and its registry are the process's. Stores of
 * equal configuration share it, and the last one to be closed shuts it down.
 */
import { AsyncResource } from 'node:async_hooks';
import { DBOS, DBOSWorkflowConflictError } from '@dbos-inc/dbos-sdk';
import { InvalidPolicy } from '@mrtr/core';
import { Pool } from 'pg';
import { Calls, tableOfCalls } from './calls.ts';
import { Locks } from './locks.ts';
import type { Settings } from './options.ts';
import { newInstance, Presence } from './presence.ts';

const NAME = 'mrtr-linear';
const QUEUE = `${NAME}-`;
// How long a call that was taken over waits for its new owner to look; each look is four statements.
const LOOK_EVERY_MS = 100;

/** Never settles. A workflow that returns or throws is recorded as over; one that hangs can go on elsewhere. */
export const NEVER: Promise<never> = new Promise(() => {});

interface Registered {
  /** What to do when DBOS runs a workflow here: each one is started or taken over by a store of this process. */
  readonly expected: Map<string, () => Promise<void>>;
  workflow?: typeof serve;
}

// DBOS takes a name once a process, and this module may be loaded more than once: by two packages, or a test runner.
const REGISTERED = Symbol.for('mrtr.linear-dbos');
const shared = globalThis as { [REGISTERED]?: Registered };
shared[REGISTERED] ??= { expected: new Map() };
const registered: Registered = shared[REGISTERED];
const { expected } = registered;

async function serve(): Promise<void> {
  const id = DBOS.workflowID ?? '';
  const run = expected.get(id);
  expected.delete(id);
  await (run ? run() : NEVER);
}

let current: { readonly key: string; readonly runtime: Promise<Runtime>; users: number } | undefined;
let closing: Promise<void> = Promise.resolve();

/** DBOS, launched. */
export class Runtime {
  readonly calls: Calls;
  readonly presence: Presence;
  readonly #pool: Pool;
  readonly #locks: Locks;
  readonly #queue: string;
  // Outside of every workflow: what is done here is not a step of one, whoever calls.
  readonly #outside = new AsyncResource(NAME);
  #closed = false;

  private constructor(pool: Pool, instance: string, { schema, onerror }: Settings) {
    this.#pool = pool;
    this.#queue = QUEUE + instance;
    this.#locks = new Locks(pool, schema);
    this.calls = new Calls(pool, schema, this.#locks);
    this.presence = new Presence(pool, onerror);
  }

  /**
   * The runtime of this process, launched where it is not.
   *
   * @throws InvalidPolicy when there is one of another configuration, or DBOS was launched by somebody else.
   */
  static async acquire(options: Settings): Promise<Runtime> {
    // Another one may begin to close while this waits.
    let waited: Promise<void>;
    do {
      waited = closing;
      await waited;
    } while (waited !== closing);
    const { postgres, schema, version, poolSize } = options;
    const key = JSON.stringify([postgres, schema, version, poolSize]);
    if (current && current.key !== key) {
      throw new InvalidPolicy(
        'A DbosStore of another configuration is open in this process, and DBOS can be configured once. Give all ' +
          'stores of a process the same postgres, schema, version and poolSize, or close the other one first.',
      );
    }
    current ??= { key, runtime: Runtime.#launch(options), users: 0 };
    const mine = current;
    mine.users++;
    try {
      return await mine.runtime;
    } catch (error) {
      if (current === mine) current = undefined;
      throw error;
    }
  }

  /** Gives up one use of the runtime. */
  async release(): Promise<void> {
    if (!current || --current.users > 0) return;
    current = undefined;
    closing = this.#close();
    await closing;
  }

  /** Runs a new workflow here. */
  async start(id: string, run: () => Promise<void>): Promise<void> {
    expected.set(id, run);
    const start = () => DBOS.startWorkflow(registered.workflow as typeof serve, { workflowID: id })();
    try {
      // Not always outside: a handler may rely on the asynchronous context of the request that starts it.
      const handle = await (DBOS.isWithinWorkflow() ? this.#outside.runInAsyncScope(start) : start());
      // What became of it is published by itself.
      handle.getResult().catch(() => {});
    } catch (error) {
      expected.delete(id);
      throw error;
    }
  }

  /** Makes ready to run a workflow that another executor has begun. */
  expect(id: string, run: () => Promise<void>): void {
    expected.set(id, run);
  }

  /** Takes that back. */
  unexpect(id: string): void {
    expected.delete(id);
  }

  /** Has an expected workflow run here. Says false where DBOS holds it for over. */
  async resume(id: string): Promise<boolean> {
    return this.#outside.runInAsyncScope(async () => {
      await DBOS.resumeWorkflow(id, { queueName: this.#queue });
      const status = await DBOS.getWorkflowStatus(id);
      return status?.status === 'ENQUEUED' || status?.status === 'PENDING';
    });
  }

  /** Hands a workflow a message on `topic`. Of several the first counts; of those with one `key` only that is kept. */
  async send(id: string, message: string, topic: string, key = topic): Promise<void> {
    await this.#outside.runInAsyncScope(() => DBOS.send(id, message, topic, key));
  }

  /** Deletes everything about these calls, and the queues of processes that are gone. */
  async remove(ids: readonly string[]): Promise<void> {
    await this.#outside.runInAsyncScope(async () => {
      // Ours last: whoever dies in between has left something to be found by.
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
      throw new InvalidPolicy(
        'DBOS was launched in this process already, and there can be one. Run DbosStore in a process of its own.',
      );
    }
    const { schema, version, onerror } = options;
    const pool = poolOf(options);
    const instance = newInstance();
    const runtime = new Runtime(pool, instance, options);
    registered.workflow ??= DBOS.registerWorkflow(serve, { name: NAME });
    try {
      await runtime.presence.hold(instance, () => {});
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
        // It looks on for what became of parked calls, and says that it cannot.
        logger: quietly((error) => runtime.#closed || onerror(error)),
      });
      await runtime.#locks.create();
      await runtime.#locks.launching(async () => {
        await DBOS.launch();
        await pool.query(tableOfCalls(schema));
      });
      await DBOS.registerQueue(runtime.#queue, { minPollingIntervalMs: LOOK_EVERY_MS });
      return runtime;
    } catch (error) {
      await runtime.#close().catch(() => {});
      throw error;
    }
  }

  async #close(): Promise<void> {
    this.#closed = true;
    // Its queue is left to others to delete: DBOS would wait here for a database that is gone.
    if (DBOS.isInitialized()) await DBOS.shutdown();
    this.presence.close();
    await this.#pool.end();
  }
}

function poolOf({ postgres, poolSize, onerror }: Settings): Pool {
  // Parsed here first: the error of whoever parses it next would show the password.
  if (!URL.canParse(postgres))
    throw new InvalidPolicy(
      'DbosStore: postgres must be a connection string, postgres://user@host/database.',
    );
  const pool = new Pool({
    connectionString: postgres,
    max: poolSize,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    application_name: NAME,
  });
  // A connection may end as it is made, in the turn in which nobody listens to it yet: that would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool.on('error', onerror);
}

/** DBOS's log, without what is no error. */
const quietly = (onerror: (error: Error) => unknown) => ({
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (entry: unknown, details?: { readonly error?: unknown }) => {
    const error = details?.error ?? entry;
    // Of a call that another instance has taken over: what was to be.
    if (error instanceof DBOSWorkflowConflictError) return;
    onerror(error instanceof Error ? error : new Error(`DBOS: ${String(entry)}`));
  },
});
