/** Instances in their own processes: tests start them, send them requests over HTTP, and kill them. */
import { type ChildProcess, fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { DbosStoreOptions } from '@mrtr/linear-dbos';
import { build, type Plugin } from 'esbuild';
import { Shop, type Wanted } from './shop.test-support.ts';
import { Customer, type Outcome, type Sent } from './site.test-support.ts';

export interface Setting extends Omit<DbosStoreOptions, 'policy' | 'onerror'> {
  readonly keys: readonly string[];
  /** The store sees another caller in each request, whoever the server finds. */
  readonly mistakesCallers?: boolean;
  /** The real version of the code, if `version` is wrong. */
  readonly code?: string;
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

const PATIENCE_MS = 30_000;
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
  readonly #child: ChildProcess;
  readonly #shop: Shop;
  readonly #waiting = new Map<number, (parked: number) => void>();
  readonly #customer: Customer;
  #messages = 0;
  #ending = false;
  readonly errors: string[] = [];
  /** Called if it ends by itself. */
  onDeath: () => void = () => {};
  /** Called for each effect of this instance, after it was performed and before its result returns. */
  onEffect: () => void = () => {};

  private constructor(child: ChildProcess, url: URL, shop: Shop) {
    this.#child = child;
    this.#shop = shop;
    this.#customer = new Customer((principal) => {
      const headers = { authorization: `Bearer ${principal || ANYBODY}` };
      return new StreamableHTTPClientTransport(url, { requestInit: { headers } });
    });
    child.on('message', (message: ToParent) => this.#heard(message));
    child.once('exit', () => this.#ending || this.onDeath());
  }

  static async start(setting: Setting, shop = new Shop()): Promise<Instance> {
    program ??= bundled();
    const child = fork(await program, [JSON.stringify(setting)], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-2000);
    });
    const early: ToParent[] = [];
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const ended = once(child, 'exit', { signal }).then(() =>
      Promise.reject(new Error(`The instance ended at its start: ${said}`)),
    );
    ended.catch(() => {});
    for (;;) {
      const [message]: ToParent[] = await Promise.race([once(child, 'message', { signal }), ended]);
      if (message && 'open' in message) {
        const instance = new Instance(child, new URL(message.open), shop);
        for (const one of early) instance.#heard(one);
        return instance;
      }
      if (message) early.push(message);
    }
  }

  send(sent: Sent, cancelled?: AbortSignal): Promise<Outcome> {
    return this.#customer.send(sent, cancelled);
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  parked(): Promise<number> {
    const parked = ++this.#messages;
    return new Promise((resolve) => {
      this.#waiting.set(parked, resolve);
      this.#tell({ parked });
    });
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Stops the process where it stands, until it is told to go on. */
  stop(): void {
    this.#child.kill('SIGSTOP');
  }

  continue(): void {
    this.#child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    await this.#end(() => this.#child.kill('SIGKILL'));
  }

  async close(): Promise<void> {
    await this.#end(() => this.#tell({ close: true }));
  }

  async #end(how: () => void): Promise<void> {
    if (!this.alive) return;
    this.#ending = true;
    const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) });
    how();
    await exited;
  }

  #tell(message: FromParent): void {
    // A test may kill it meanwhile.
    if (this.#child.connected) this.#child.send(message, () => {});
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
