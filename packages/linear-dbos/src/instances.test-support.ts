/** Instances in processes of their own, for tests: started, sent requests, and killed. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DbosStoreOptions } from './options.ts';
import type { Outcome, Sent, Wanted } from './site.test-support.ts';

/** How an instance is set up. */
export interface Setting extends Omit<DbosStoreOptions, 'policy' | 'onerror'> {
  readonly keys: readonly string[];
  /** Who the store takes everybody for, whatever the server does. */
  readonly callerOfStore?: string;
}

export type FromParent =
  | ({ readonly send: number } & Sent)
  | { readonly cancel: number }
  | { readonly done: string; readonly value: string }
  | { readonly parked: number }
  | { readonly close: true };

export type ToParent =
  | { readonly open: true }
  | { readonly sent: number; readonly outcome: Outcome }
  | Wanted
  | { readonly counted: number; readonly parked: number }
  | { readonly error: string };

/** Whoever performs effects: it knows their keys, and does each once. One for all instances that share a database. */
export class Shop {
  readonly #orders = new Map<string, Order>();

  /** What was done for the order of `item`. */
  of(item: string): Order {
    const order = this.#orders.get(item) ?? new Order();
    this.#orders.set(item, order);
    return order;
  }
}

/** One order, as the shop sees it. */
export class Order {
  readonly #results = new Map<string, string>();
  readonly #held = new Map<string, () => void>();
  /** Every request for an effect. */
  readonly attempts: string[] = [];
  /** What was done. */
  readonly done: string[] = [];

  /** Holds back the result of the next effect of this name; resolves when it was performed. */
  hold(name: string): Promise<void> {
    return new Promise((resolve) => this.#held.set(name, resolve));
  }

  /** Gives the result; undefined where it is held back. */
  perform({ effect, key, detail }: Wanted): string | undefined {
    this.attempts.push(effect);
    const known = this.#results.get(key);
    if (known === undefined) this.done.push(`${effect} ${detail}`);
    const result = known ?? `${effect} #${this.done.length}`;
    this.#results.set(key, result);
    const held = this.#held.get(effect);
    this.#held.delete(effect);
    held?.();
    return held ? undefined : result;
  }
}

const PROGRAM = fileURLToPath(new URL('./instance.test-support.ts', import.meta.url));
const LOADER = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const PATIENCE_MS = 20_000;

/** A running instance. */
export class Instance {
  readonly #child: ChildProcess;
  readonly #shop: Shop;
  readonly #waiting = new Map<number, (message: never) => void>();
  #messages = 0;
  /** What it reported. */
  readonly errors: string[] = [];

  private constructor(child: ChildProcess, shop: Shop) {
    this.#child = child;
    this.#shop = shop;
    child.on('message', (message: ToParent) => this.#heard(message));
  }

  /** Starts one; resolves when its store is open. */
  static async start(setting: Setting, shop = new Shop()): Promise<Instance> {
    const child = fork(PROGRAM, [JSON.stringify(setting)], { execArgv: ['--import', LOADER] });
    const instance = new Instance(child, shop);
    const ended = once(child, 'exit').then(() =>
      Promise.reject(new Error('The instance ended at its start.')),
    );
    ended.catch(() => {});
    await Promise.race([once(child, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) }), ended]);
    return instance;
  }

  /** Sends a request; `cancelled` cancels it. */
  send(sent: Sent, cancelled?: AbortSignal): Promise<Outcome> {
    const id = ++this.#messages;
    cancelled?.addEventListener('abort', () => this.#tell({ cancel: id }), { once: true });
    return this.#ask(id, { send: id, ...sent });
  }

  /** Whether it has not ended. */
  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** How many handlers are parked in it. */
  async parked(): Promise<number> {
    const id = ++this.#messages;
    return (await this.#ask<{ parked: number }>(id, { parked: id })).parked;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#end(() => this.#child.kill('SIGKILL'));
  }

  /** Has it close its store and end. */
  async close(): Promise<void> {
    await this.#end(() => this.#tell({ close: true }));
  }

  async #end(how: () => void): Promise<void> {
    if (!this.alive) return;
    const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) });
    how();
    await exited;
  }

  #ask<T>(id: number, message: FromParent): Promise<T> {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve as (message: never) => void);
      this.#tell(message);
    });
  }

  #tell(message: FromParent): void {
    if (this.#child.connected) this.#child.send(message);
  }

  #heard(message: ToParent): void {
    if ('error' in message) this.errors.push(message.error);
    if ('sent' in message) this.#waiting.get(message.sent)?.(message.outcome as never);
    if ('counted' in message) this.#waiting.get(message.counted)?.(message as never);
    if (!('effect' in message)) return;
    const value = this.#shop.of(message.item).perform(message);
    if (value !== undefined) this.#tell({ done: message.key, value });
  }
}
