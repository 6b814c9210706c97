/** Instances in separate processes: tests start them, send them requests over HTTP, and kill them. */
import { Deferred } from '@mrtr/harness/internal';
import { RunningProcess } from '@mrtr/harness/process';
import type { DbosStoreOptions } from '@mrtr/linear-dbos';
import { type Rpc, rpcOver } from '@mrtr/matrix/rpc';
import type { Times } from '../../packages/linear-dbos/src/options.ts';
import { bundle } from '../testkit/bundle.ts';
import { Shop, type Wanted } from './shop.test-support.ts';
import { outcomeOf, type RoundSummary, type Sent } from './site.test-support.ts';

export interface Setting extends Omit<DbosStoreOptions, 'policy' | 'onerror'>, Partial<Times> {
  readonly keys: readonly string[];
}

/** The methods of the parent, which outlives the instance. */
export interface ParentMethods {
  open(url: string): void;
  entered(item: string, by: string): void;
  perform(wanted: Wanted): Promise<string>;
  report(error: string): void;
}

export interface InstanceMethods {
  parked(): number;
  close(): void;
}

export const ANYBODY = 'anybody';

let program: Promise<string> | undefined;

export class Instance {
  readonly #process: RunningProcess;
  readonly #rpc: Rpc<InstanceMethods>;
  readonly #open: Promise<URL>;
  #ending = false;
  readonly errors: string[] = [];
  /** Called if the instance ends by itself. */
  onDeath: () => void = () => {};
  /** Called for each effect of this instance, between the effect and the return of its result. */
  onEffect: () => void = () => {};

  private constructor(program: string, setting: Setting, shop: Shop) {
    const args = [program, JSON.stringify(setting)];
    this.#process = new RunningProcess(
      { command: process.execPath, args },
      { ipc: true, patienceMs: 120_000 },
    );
    const opened = new Deferred<string>();
    const methods: ParentMethods = {
      open: (url) => opened.open(url),
      entered: (item, by) => void shop.of(item).codes.add(by),
      report: (error) => void this.errors.push(error),
      perform: async (wanted) => {
        const result = await shop.of(wanted.item).perform(wanted);
        this.onEffect();
        return result;
      },
    };
    this.#rpc = rpcOver(this.#process.child, methods, ['close']);
    this.#open = opened.promise.then((url) => new URL(url));
    void this.#process.ended.then(() => this.#ending || this.onDeath());
  }

  static async start(setting: Setting, shop = new Shop()): Promise<Instance> {
    program ??= bundle(new URL('./instance.test-support.ts', import.meta.url));
    const instance = new Instance(await program, setting, shop);
    try {
      await instance.#process.whileAlive(instance.#open);
      return instance;
    } catch (error) {
      await instance.kill();
      throw error;
    }
  }

  send({ principal = ANYBODY, ...sent }: Sent, signal?: AbortSignal): Promise<RoundSummary> {
    return outcomeOf(sent, async ({ headers, ...init }) =>
      fetch(await this.#open, {
        ...init,
        headers: { ...headers, authorization: `Bearer ${principal}` },
        signal: signal ?? null,
      }),
    );
  }

  parked(): Promise<number> {
    return this.#rpc.remote.parked();
  }

  /** Suspends the process until it is resumed. */
  stop(): void {
    this.#process.child.kill('SIGSTOP');
  }

  continue(): void {
    this.#process.child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    this.#ending = true;
    await this.#process.kill();
  }

  async close(): Promise<void> {
    this.#ending = true;
    await this.#process.stop(() => this.#rpc.remote.close());
  }
}
