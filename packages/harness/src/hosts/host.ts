/** Hosts a server in this process, without a socket. */
import type { AuthInfo, McpServer } from '@modelcontextprotocol/server';
import { currentRecorder, inInstance } from '../recording/recorder.ts';
import type { Era } from '../transcript/call.ts';
import { currentCaller } from './caller.ts';
import { type Endpoint, type Fetch, type Hosting, NO_SOCKET } from './endpoint.ts';
import { serveFactory } from './serve-factory.ts';

/**
 * Hosting in this process. `memory`: one instance; an old client has its own connection. `fleet`: three stateless instances
 * behind a round robin. `restart`: one instance, which is replaced before every further request.
 */
export type LocalHostingKind = 'memory' | 'fleet' | 'restart';

/** One instance of a server: makes an `McpServer` for each request or connection, or serves HTTP itself. */
export type HostedInstance = McpInstance | HttpInstance;

interface Holding {
  /** How many handlers this instance has parked in memory. */
  readonly framesHeld?: (() => number) | undefined;
}

export interface McpInstance extends Holding {
  /** Makes a server: one per request on stateless hosting, otherwise one per connection. */
  server(): McpServer;
  /** Releases resources that outlive a request. */
  close?(): Promise<void>;
}

/** An instance that serves HTTP itself, such as a server on an old SDK. */
export interface HttpInstance extends Holding {
  /** `authInfo` is the conversation's caller, if any. Its token is also in the `authorization` header. */
  fetch(request: Request, options?: { readonly authInfo: AuthInfo }): Promise<Response>;
  close(): Promise<void>;
}

/**
 * A server in this process, whose instances a test can replace between two rounds. Transcripts show the replacement.
 *
 * @example
 * const { first, hosting } = await Conversation.start(request, () => host('memory', create));
 * hosting.another();
 * await hosting.restart(createNewVersion);
 * const done = await first.answer({ sure: true });
 */
export interface LocalHosting extends Hosting {
  /** Starts one more instance, which serves every further request. The others keep running, with their state. */
  another(create?: () => HostedInstance): void;
  /**
   * Replaces every instance, which loses their memory and the connections of old clients. `create` makes the new
   * instances, for example of a new version.
   */
  restart(create?: () => HostedInstance): Promise<void>;
}

/**
 * Starts a server in this process. `create` makes each of its instances.
 *
 * @example
 * const hosting = host('fleet', () => ({ server: () => createMyServer() }));
 */
export const host = (kind: LocalHostingKind, create: () => HostedInstance): LocalHosting =>
  new Local(kind, create);

class Local implements LocalHosting {
  readonly #kind: LocalHostingKind;
  #create: () => HostedInstance;
  #running: readonly Running[];
  /** The latest instance of {@link another}. Without one, the instances take turns. */
  #sole: Running | undefined;
  readonly #recorder = currentRecorder();
  #requests = 0;
  // Messages that come at once have one restart each. After the end, there are no more restarts.
  #restarted: Promise<void> = Promise.resolve();
  #over = false;

  constructor(kind: LocalHostingKind, create: () => HostedInstance) {
    this.#kind = kind;
    this.#create = create;
    const ids = kind === 'fleet' ? [1, 2, 3] : [1];
    this.#running = ids.map((id) => new Running(`i${id}`, create()));
  }

  get instances(): readonly string[] {
    return this.#running.map(({ id }) => id);
  }

  readonly endpoint = (era: Era): Endpoint =>
    era === 'legacy' && this.#kind === 'memory'
      ? { kind: 'memory', server: (this.#sole ?? (this.#running[0] as Running)).server() }
      : { kind: 'http', url: NO_SOCKET, fetch: this.#fetch };

  readonly framesHeld = (): number => this.#running.reduce((sum, { framesHeld }) => sum + framesHeld, 0);

  another(create = this.#create): void {
    this.#sole = new Running(`i${this.#running.length + 1}`, create());
    this.#running = [...this.#running, this.#sole];
  }

  restart(create = this.#create): Promise<void> {
    this.#create = create;
    this.#restarted = this.#restarted.then(() => this.#restartNow());
    return this.#restarted;
  }

  readonly close = async (): Promise<void> => {
    this.#over = true;
    await this.#restarted;
    await this.#stopAll();
  };

  readonly #fetch: Fetch = async (url, init) => {
    const message = init?.method === 'POST';
    // A GET opens a stream beside a call that is being served, so it does not restart the server.
    if (this.#kind === 'restart' && this.#requests > 0 && message && !this.#over) this.restart();
    await this.#restarted;
    const instance = this.#sole ?? (this.#running[this.#requests % this.#running.length] as Running);
    this.#requests++;
    if (message) currentRecorder()?.recordRoute(instance.id, String(init?.body));
    const authInfo = currentCaller();
    return inInstance(instance.id, () =>
      instance.face.fetch(new Request(url, init), authInfo && { authInfo }),
    );
  };

  async #restartNow(): Promise<void> {
    await this.#stopAll();
    this.#running = this.#running.map(({ id }) => new Running(id, this.#create()));
    this.#sole &&= this.#running.at(-1);
    for (const instance of this.instances) {
      (currentRecorder() ?? this.#recorder)?.record({ kind: 'restart', instance });
    }
  }

  async #stopAll(): Promise<void> {
    await Promise.all(this.#running.map((instance) => instance.stop()));
  }
}

class Running {
  readonly id: string;
  readonly face: HttpInstance;
  readonly #instance: HostedInstance;
  readonly #connected: McpServer[] = [];

  constructor(id: string, instance: HostedInstance) {
    this.id = id;
    this.#instance = instance;
    this.face = 'fetch' in instance ? instance : serveFactory(() => instance.server());
  }

  server(): McpServer {
    if ('fetch' in this.#instance) throw new Error('A server that hosts itself can be reached by HTTP only.');
    const server = this.#instance.server();
    this.#connected.push(server);
    return server;
  }

  get framesHeld(): number {
    return this.#instance.framesHeld?.() ?? 0;
  }

  async stop(): Promise<void> {
    await this.face.close();
    await Promise.all(this.#connected.map((server) => server.close()));
    if (this.#instance !== this.face) await this.#instance.close?.();
  }
}
