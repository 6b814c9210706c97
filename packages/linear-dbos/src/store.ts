/** The durable store of shape H: any instance with the same keys and database can resume a call. */
import type { LinearRound, LinearStore, RoundEnd } from '@mrtr/shapes/linear';
import { openCalls } from './durable-calls.ts';
import { type DbosStoreOptions, resolveOptions, type Settings } from './options.ts';

/**
 * Keeps the calls of `linear` in PostgreSQL, as workflows of DBOS. A waiting handler is parked in the process that runs
 * it. When that process is gone, the instance that receives the next answer runs the handler again up to its place. It
 * replays the values of `ctx.once` and the answers from their records. Code outside `ctx.once` runs again.
 *
 * The store runs one step at a time, and none while a question waits. So a step that waits for another step, or for an
 * answer, waits for ever. Arguments must be JSON, or the `URL` of a resource. The store rejects a call whose schema
 * transforms them into other values.
 *
 * The store serves each token once by itself, so the server's ledger gives no lease for its tools. Other tools of the
 * server keep the policy's single use.
 *
 * One store may serve any number of tools; it must outlive each `McpServer`, which may serve a single request. DBOS runs once per
 * process: stores that are open at once in a process must have the same `postgres`, `schema`, `version` and `poolSize`, and
 * no other code may launch DBOS there. An open store keeps the process alive; close it.
 *
 * @example
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY], ledger });
 * const store = await DbosStore.open({ postgres: process.env.DATABASE_URL, policy, version: '2026-11-22' });
 * server.registerTool('deploy', { inputSchema }, linear(deploy, { store }));
 */
export class DbosStore implements LinearStore {
  /** The database decides which answer counts, and another process needs the retry to resume the call of a dead one. */
  readonly servesTokensOnce = true;
  readonly #calls: Awaited<ReturnType<typeof openCalls>>;

  private constructor(calls: Awaited<ReturnType<typeof openCalls>>) {
    this.#calls = calls;
  }

  /**
   * Connects, creates missing tables, and shows this instance as alive.
   *
   * @throws InvalidOption for an invalid option, and when this process runs DBOS with another configuration.
   * @throws Error of the database if it is unreachable.
   */
  static async open(options: DbosStoreOptions): Promise<DbosStore> {
    return DbosStore.openWith(resolveOptions(options));
  }

  /** @internal Opens a store with times of its own, for tests. */
  static async openWith(settings: Settings): Promise<DbosStore> {
    return new DbosStore(await openCalls(settings));
  }

  /** How many handlers are parked in this process. More calls may wait in the database alone. */
  get parked(): number {
    return this.#calls.parked;
  }

  /**
   * Starts a call, or sends its answers to the instance that runs it. Waits until the call asks or settles.
   *
   * @throws StoreFull at the limit of all calls, or of this principal's, and after `close()`.
   * @throws ContinuationLost if the call cannot be resumed, or the database is unreachable.
   * @throws NotJson when the arguments of a new call are not JSON.
   */
  runRound(round: LinearRound): Promise<RoundEnd> {
    return this.#calls.runRound(round);
  }

  /**
   * Waits a few seconds for the open rounds, and then abandons every call, so that other instances can resume them.
   * Handlers that still run are not stopped, but the store records nothing more of them.
   */
  close(): Promise<void> {
    return this.#calls.close();
  }
}
