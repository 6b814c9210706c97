/**
 * The spawned program: an instance that serves what the observing process tells it to, and tells it what happens.
 * It ends when that process does.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { connect } from 'node:net';
import { requestStatePolicy } from '@mrtr/core';
import { observeDiagnostics } from '@mrtr/harness';
import type { Option, RunningOption } from '@mrtr/tools';
import { DATABASE_VARIABLE, type DatabaseMethods, type InstanceMethods, type Opening } from './messages.ts';
import { Peer } from './peer.ts';
import { remoteWorld } from './remote-world.ts';

/** One conversation's part in this process. */
interface Opened {
  readonly running: RunningOption;
  readonly url?: string;
  close(): Promise<void>;
}

const opened = new Map<string, Opened>();
// Diagnostics channels are the process's; a port is one conversation's, and what happens on it happens in here.
const current = new AsyncLocalStorage<string>();
// On stdio the whole process is one conversation's.
let connection: string | undefined;

const methods: InstanceMethods = {
  async open(opening) {
    const serving = await current.run(opening.scope, () => serve(opening));
    opened.set(opening.scope, serving);
    return serving.url;
  },
  async close(scope) {
    const serving = opened.get(scope);
    opened.delete(scope);
    await serving?.close();
  },
  framesHeld: (scope) => opened.get(scope)?.running.framesHeld?.() ?? 0,
};

const [port, name = ''] = (process.env[DATABASE_VARIABLE] ?? '').split(':');
if (!port) throw new Error(`This program is spawned by the harness, which sets ${DATABASE_VARIABLE}.`);
const socket = connect(Number(port), '127.0.0.1');
const database = new Peer<DatabaseMethods>(socket, methods);
void database.closed.then(() => process.exit());
observeDiagnostics((diagnostic) => {
  const scope = current.getStore() ?? connection;
  if (scope !== undefined) database.tell('diagnostic', { scope, diagnostic });
});
database.tell('hello', name);

async function serve(opening: Opening): Promise<Opened> {
  const { scope, module, name: exported, env, key, legacy } = opening;
  Object.assign(process.env, env);
  const subject = ((await import(module)) as Record<string, Option | undefined>)[exported];
  if (!subject) throw new Error(`${module} exports no '${exported}'.`);
  const state = requestStatePolicy({ keys: [Buffer.from(key, 'base64')], legacy });
  const running = subject.create({ world: remoteWorld(database, scope), state });
  if (opening.serve === 'stdio') {
    connection = scope;
    const { serveStdio } = await import('@mrtr/hosting/stdio');
    const hosting = serveStdio(running);
    // This process was started for one connection.
    void hosting.closed.then(() => database.close());
    return { running, close: () => hosting.close() };
  }
  const { serveHttp } = await import('@mrtr/hosting/http');
  const { url, close } = await serveHttp(running, { legacy: opening.serve, drainMs: 1000 });
  return { running, url: url.href, close };
}
