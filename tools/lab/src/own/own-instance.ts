/** One instance of a server of anybody's: a process of its command, or the server at its address. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Fetch, ServerProcess } from '@mrtr/harness/internal';
import type { Instance } from '@mrtr/matrix/processes';
import { buildSync } from 'esbuild';
import { type CallLines, keyOf } from './call-lines.ts';
import { LineChannel } from './line-channel.ts';
import type { OwnServer } from './own-server.ts';
import { fetchOver } from './stdio-fetch.ts';
import type { Taken } from './trace.ts';

export class OwnInstance implements Instance {
  readonly onKill = new Set<() => void>();
  readonly #server: OwnServer;
  readonly #fetch: Fetch;
  readonly #process: ServerProcess | undefined;
  readonly #channel: LineChannel | undefined;
  #serving: { readonly lines: CallLines; readonly instance: string } | undefined;
  /** The latest request of the call, or the part of it since the server has asked. */
  #request: object | undefined;

  private constructor(server: OwnServer, fetch: Fetch, process?: ServerProcess, channel?: LineChannel) {
    this.#server = server;
    this.#fetch = fetch;
    this.#process = process;
    this.#channel = channel;
  }

  /** Starts the command, or takes the server at its address. */
  static async start(server: OwnServer): Promise<OwnInstance> {
    const { endpoint, given, root, options } = server;
    if (endpoint.kind === 'http') return new OwnInstance(server, withHeaders(endpoint));
    if (endpoint.kind === 'memory') throw new Error('A server in memory has no command.');
    const channel = await LineChannel.open();
    const traced = channel.environment({ source: given, root }, preload(), endpoint.env?.NODE_OPTIONS);
    const process = new ServerProcess(endpoint.command, endpoint.args, {
      cwd: options.folder,
      env: { ...endpoint.env, ...traced },
    });
    const send = fetchOver(process, async ({ method }) => {
      await instance.#takeLines(true);
      // After an old client's answer, a handler may be entered again in the same request.
      if (method !== undefined) instance.#request = {};
    });
    const instance: OwnInstance = new OwnInstance(server, send, process, channel);
    void process.ended.then(() => channel.close());
    return instance;
  }

  get alive(): boolean {
    return this.#process?.alive ?? true;
  }

  /** Whether it is a process of the lab's. */
  get owned(): boolean {
    return this.#process !== undefined;
  }

  /** The end of what it wrote. */
  get tail(): string {
    return this.#process?.tail ?? '';
  }

  /** Sends a request that belongs to no call. */
  readonly fetch: Fetch = (url, init) => this.#fetch(url, init);

  /** Serves a conversation as `instance`. Returns the function that sends it a request. */
  async connect(lines: CallLines, instance: string): Promise<Fetch> {
    await this.#takeLines();
    this.#serving = { lines, instance };
    this.#request = undefined;
    return async (url, init) => {
      // What ran before this request belongs to the one before it.
      await this.#takeLines();
      if (/"method":\s*"tools\/call"/.test(String(init?.body))) this.#request = {};
      return this.#fetch(url, init);
    };
  }

  async close(): Promise<void> {
    this.#serving = undefined;
  }

  async framesHeld(): Promise<number> {
    return 0;
  }

  /** Sends SIGKILL to the process and its children. */
  async kill(): Promise<void> {
    for (const listener of this.onKill) listener();
    await this.#process?.kill();
    this.#channel?.close();
  }

  async #takeLines(isUp = false): Promise<void> {
    const taken = (await this.#channel?.take(isUp)) ?? [];
    for (const { lines, loaded } of taken) {
      for (const file of loaded) this.#server.loaded.add(file);
      if (lines) this.#record(lines);
    }
  }

  #record(ran: NonNullable<Taken['lines']>): void {
    if (this.#serving && this.#request)
      this.#serving.lines.record(ran, this.#serving.instance, this.#request);
    else for (const line of ran.order) this.#server.before.add(keyOf(line));
  }
}

function withHeaders({ url, headers = {} }: Extract<OwnServer['endpoint'], { kind: 'http' }>): Fetch {
  return (_url, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return fetch(url, { ...init, headers: all });
  };
}

let built: URL | undefined;

/** The preload, as plain JavaScript. */
function preload(): URL {
  const outfile = fileURLToPath(
    new URL('../../../../node_modules/.cache/mrtr-lab/preload.mjs', import.meta.url),
  );
  if (!built)
    buildSync({
      entryPoints: [fileURLToPath(new URL('./preload.ts', import.meta.url))],
      ...{ outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' },
    });
  built = pathToFileURL(outfile);
  return built;
}
