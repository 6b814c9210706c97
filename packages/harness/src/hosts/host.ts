/** Hosts a server in this process, without a socket. */
import type { McpServer } from '@modelcontextprotocol/server';
import { currentRecorder, inInstance } from '../recording/recorder.ts';
import { currentCaller } from './caller.ts';
import { type Fetch, type Hosting, NO_SOCKET } from './endpoint.ts';
import type { HttpFace } from './posting.ts';
import { serveFactory } from './serve-factory.ts';

/**
 * Hosting in this process. `memory`: one instance; an old client has its own connection. `fleet`: three stateless instances
 * behind a round robin. `restart`: one instance, which is replaced before every further request.
 */
export type LocalHostingKind = 'memory' | 'fleet' | 'restart';

/** One instance of a server: makes an `McpServer` for each request or connection, or serves HTTP itself. */
export type HostedInstance = (
  | {
      /** Makes a server: one per request on stateless hosting, otherwise one per connection. */
      server(): McpServer;
      /** Releases resources that outlive a request. */
      close?(): Promise<void>;
    }
  /** For example a server on an old SDK. `authInfo` is the caller, if any; its token is also in the `authorization` header. */
  | (HttpFace & { close(): Promise<void> })
) & {
  /** How many handlers this instance has parked in memory. */
  readonly framesHeld?: (() => number) | undefined;
};

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
export function host(kind: LocalHostingKind, create: () => HostedInstance): LocalHosting {
  const ids = kind === 'fleet' ? [1, 2, 3] : [1];
  let running: readonly Running[] = ids.map((id) => run(`i${id}`, create()));
  /** The latest instance of `another`. Without one, the instances take turns. */
  let sole: Running | undefined;
  const recorder = currentRecorder();
  let requests = 0;
  // Messages that come at once have one restart each. After the end, there are no more restarts.
  let restarted: Promise<void> = Promise.resolve();
  let isOver = false;
  const stopAll = () => Promise.all(running.map((instance) => instance.stop()));
  const restart = (next = create) => {
    create = next;
    restarted = restarted.then(async () => {
      await stopAll();
      running = running.map(({ id }) => run(id, create()));
      sole &&= running.at(-1);
      for (const { id } of running)
        (currentRecorder() ?? recorder)?.record({ kind: 'restart', instance: id });
    });
    return restarted;
  };
  const send: Fetch = async (url, init) => {
    const message = init?.method === 'POST';
    // A GET opens a stream beside a call that is being served, so it does not restart the server.
    if (kind === 'restart' && requests > 0 && message && !isOver) restart();
    await restarted;
    const instance = sole ?? (running[requests % running.length] as Running);
    requests++;
    if (message) currentRecorder()?.recordRoute(instance.id, String(init?.body));
    const authInfo = currentCaller();
    return inInstance(instance.id, () =>
      instance.face.fetch(new Request(url, init), authInfo && { authInfo }),
    );
  };
  return {
    get instances() {
      return running.map(({ id }) => id);
    },
    endpoint: (era) =>
      era === 'legacy' && kind === 'memory'
        ? { kind: 'memory', server: (sole ?? (running[0] as Running)).server() }
        : { kind: 'http', url: NO_SOCKET, fetch: send },
    framesHeld: () => running.reduce((sum, { framesHeld }) => sum + framesHeld(), 0),
    another(next = create) {
      sole = run(`i${running.length + 1}`, next());
      running = [...running, sole];
    },
    restart,
    async close() {
      isOver = true;
      await restarted;
      await stopAll();
    },
  };
}

type Running = ReturnType<typeof run>;

function run(id: string, instance: HostedInstance) {
  const face = 'fetch' in instance ? instance : serveFactory(() => instance.server());
  const connected: McpServer[] = [];
  return {
    id,
    face,
    server() {
      if ('fetch' in instance) throw new Error('A server that hosts itself can be reached by HTTP only.');
      const server = instance.server();
      connected.push(server);
      return server;
    },
    framesHeld: () => instance.framesHeld?.() ?? 0,
    async stop() {
      await face.close();
      await Promise.all(connected.map((server) => server.close()));
      if (instance !== face) await instance.close?.();
    },
  };
}
