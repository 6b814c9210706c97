/** One instance of a server of anybody's: a process of its command, or the server at its address. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Fetch, ServerProcess } from '@mrtr/harness/internal';
import type { WireMessage } from '@mrtr/harness/transcript';
import { buildSync } from 'esbuild';
import { callIn } from '../network.ts';
import { type CallLines, keyOf } from './call-lines.ts';
import { openLineChannel } from './line-channel.ts';
import type { OwnServer } from './own-server.ts';
import { fetchOver } from './stdio-fetch.ts';

export type OwnInstance = Awaited<ReturnType<typeof startOwn>>;

/** The conversation that an instance serves. */
interface Serving {
  readonly lines: CallLines;
  readonly instance: string;
  /** The latest request of the call, or the part of it since the server has asked. */
  request?: object;
}

/** Starts the command, or takes the server at its address. */
export async function startOwn(server: OwnServer) {
  const { endpoint } = server;
  const onKill = new Set<() => void>();
  let serving: Serving | undefined;

  async function takeLines(isUp = false) {
    for (const { lines, loaded } of (await command?.take(isUp)) ?? []) {
      for (const file of loaded) server.loaded.add(file);
      if (!lines) continue;
      if (serving?.request) serving.lines.record(lines, serving.instance, serving.request);
      else for (const line of lines.order) server.before.add(keyOf(line));
    }
  }

  async function receive({ method }: WireMessage) {
    await takeLines(true);
    // After an old client's answer, a handler may be entered again in the same request.
    if (method !== undefined && serving) serving.request = {};
  }

  const command = endpoint.kind === 'stdio' ? await startCommand(server, endpoint, receive) : undefined;
  const send = endpoint.kind === 'http' ? withHeaders(endpoint) : (command as Command).send;
  return {
    onKill,
    get alive() {
      return command?.program.alive ?? true;
    },
    /** Whether it is a process of the lab's. */
    isOwned: command !== undefined,
    /** The end of what it wrote. */
    get tail() {
      return command?.program.tail ?? '';
    },
    /** Sends a request that belongs to no call. */
    fetch: send,
    /** Serves a conversation as `instance`. Returns the function that sends it a request. */
    async connect(lines: CallLines, instance: string): Promise<Fetch> {
      await takeLines();
      const own: Serving = { lines, instance };
      serving = own;
      return async (url, init) => {
        // What ran before this request belongs to the one before it.
        await takeLines();
        if (callIn(init)) own.request = {};
        return send(url, init);
      };
    },
    async close() {
      serving = undefined;
    },
    framesHeld: async () => 0,
    /** Sends SIGKILL to the process and its children. */
    async kill() {
      for (const listener of onKill) listener();
      await command?.program.kill();
    },
  };
}

type Endpoint<Kind> = Extract<OwnServer['endpoint'], { kind: Kind }>;
type Command = Awaited<ReturnType<typeof startCommand>>;

/** Starts a program that is asked for its lines. `receive` is awaited before a message of it is passed on. */
async function startCommand(
  { given, root, options }: OwnServer,
  { command, args, env }: Endpoint<'stdio'>,
  receive: (message: WireMessage) => Promise<void>,
) {
  const channel = await openLineChannel();
  const traced = channel.environment({ source: given, root }, preload(), env?.NODE_OPTIONS);
  const program = new ServerProcess(command, args, { cwd: options.folder, env: { ...env, ...traced } });
  void program.ended.then(channel.close);
  return { program, take: channel.take, send: fetchOver(program, receive) };
}

function withHeaders({ url, headers = {} }: Endpoint<'http'>): Fetch {
  return (_url, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return fetch(url, { ...init, headers: all });
  };
}

let built: URL | undefined;

/** The preload, as plain JavaScript. */
function preload() {
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
