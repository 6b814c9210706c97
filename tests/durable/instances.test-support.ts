/** Instances in their own processes: tests start them, send them requests over HTTP, and kill them. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { RunningProcess } from '@mrtr/harness/process';
import type { DbosStoreOptions } from '@mrtr/linear-dbos';
import { bundle } from '../testkit/bundle.ts';
import { Shop, type Wanted } from './shop.test-support.ts';
import { Customer, type Outcome, type Sent } from './site.test-support.ts';

export interface Setting extends Omit<DbosStoreOptions, 'policy' | 'onerror'> {
  readonly keys: readonly string[];
  /** The store sees another caller in each request, whoever the server finds. */
  readonly mistakesCallers?: boolean;
}

export type FromParent =
  | { readonly done: number; readonly result: string }
  | { readonly parked: number }
  | { readonly close: true };

export type ToParent =
  | { readonly open: string }
  | { readonly entered: string; readonly by: string }
  | { readonly wanted: Wanted; readonly asked: number }
  | { readonly counted: number; readonly parked: number }
  | { readonly error: string };

export const ANYBODY = 'anybody';

let program: Promise<string> | undefined;

export class Instance {
  readonly #process: RunningProcess;
  readonly #shop: Shop;
  readonly #waiting = new Map<number, (parked: number) => void>();
  readonly #open: Promise<URL>;
  readonly #customer: Customer;
  #messages = 0;
  #ending = false;
  readonly errors: string[] = [];
  /** Called if it ends by itself. */
  onDeath: () => void = () => {};
  /** Called for each effect of this instance, after it was performed and before its result returns. */
  onEffect: () => void = () => {};

  private constructor(program: string, setting: Setting, shop: Shop) {
    const args = [program, JSON.stringify(setting)];
    this.#process = new RunningProcess({ command: process.execPath, args }, { ipc: true });
    this.#shop = shop;
    this.#open = new Promise((resolve) => {
      this.#process.child.on('message', (message: ToParent) => {
        if ('open' in message) resolve(new URL(message.open));
        else this.#heard(message);
      });
    });
    this.#customer = new Customer(async (principal) => {
      const headers = { authorization: `Bearer ${principal || ANYBODY}` };
      return new StreamableHTTPClientTransport(await this.#open, { requestInit: { headers } });
    });
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

  send(sent: Sent, cancelled?: AbortSignal): Promise<Outcome> {
    return this.#customer.send(sent, cancelled);
  }

  parked(): Promise<number> {
    const parked = ++this.#messages;
    return new Promise((resolve) => {
      this.#waiting.set(parked, resolve);
      this.#tell({ parked });
    });
  }

  /** Stops the process where it stands, until it is told to go on. */
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
    await this.#process.stop(() => this.#tell({ close: true }));
  }

  #tell(message: FromParent): void {
    const { child } = this.#process;
    // A test may kill it meanwhile.
    if (child.connected) child.send(message, () => {});
  }

  #heard(message: ToParent): void {
    if ('error' in message) this.errors.push(message.error);
    if ('entered' in message) this.#shop.of(message.entered).codes.add(message.by);
    if ('counted' in message) this.#waiting.get(message.counted)?.(message.parked);
    if (!('wanted' in message)) return;
    const { wanted, asked } = message;
    this.#shop.of(wanted.item).perform(wanted, (result) => {
      this.onEffect();
      this.#tell({ done: asked, result });
    });
  }
}
