/** Instances in their own processes: tests start them, send them requests over HTTP, and kill them. */
import { hash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { RunningProcess } from '@mrtr/harness/process';
import type { DbosStoreOptions } from '@mrtr/linear-dbos';
import { build, type Plugin } from 'esbuild';
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

/** Leaves foreign packages out of the bundle, by their file: only the package that depends on one can resolve it. */
const notOurs: Plugin = {
  name: 'not-ours',
  setup({ onResolve, resolve }) {
    onResolve(
      { filter: /^(@dbos-inc|@modelcontextprotocol|pg$|zod)/ },
      async ({ path, pluginData, ...from }) => {
        if (pluginData === 'found') return undefined;
        const found = await resolve(path, { ...from, pluginData: 'found' });
        return { path: pathToFileURL(found.path).href, external: true, errors: found.errors };
      },
    );
  },
};

/** The program as one file with all our code, which starts in a third of the time of many files. */
async function bundled(): Promise<string> {
  const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [at('./instance.test-support.ts')],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    plugins: [notOurs],
  });
  const text = outputFiles[0]?.text ?? '';
  const folder = at('../node_modules/.cache');
  const path = `${folder}/instance-${hash('sha256', text, 'hex').slice(0, 12)}.mjs`;
  mkdirSync(folder, { recursive: true });
  // Another test file may do this at the same time.
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
  return path;
}

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
    program ??= bundled();
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
