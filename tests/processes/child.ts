/**
 * The spawned program: an instance that serves the subjects that the observing process opens, and reports what
 * happens in them. It ends when that process does.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { connect } from 'node:net';
import { observe, requestStatePolicy } from '@mrtr/core';
import { observeDiagnostics } from '@mrtr/harness';
import type { OptionDeps, RunningOption } from '@mrtr/tools';
import {
  DATABASE_VARIABLE,
  type DatabaseMethods,
  type InstanceMethods,
  type Opening,
  type Place,
} from './messages.ts';
import { remoteWorld } from './remote-world.ts';
import { rpcOver } from './rpc.ts';

/** One conversation's part in this process. */
interface Opened {
  readonly running: RunningOption;
  readonly url?: string;
  close(): Promise<void>;
}

type Modules = Readonly<Record<string, { create(deps: OptionDeps): RunningOption } | undefined>>;

const opened = new Map<string, Opened>();
// Diagnostics channels are the process's; a port is one conversation's, and what happens on it happens in here.
const current = new AsyncLocalStorage<Place>();
// On stdio the whole process is one conversation's.
let connection: Place | undefined;

const methods: InstanceMethods = {
  async open({ scope, instance, ...opening }) {
    const place = { scope, instance };
    const serving = await current.run(place, () => serve(place, opening));
    opened.set(scope, serving);
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
const database = rpcOver<DatabaseMethods, InstanceMethods>(socket, methods, ['hello', 'diagnostic']);
void database.closed.then(() => process.exit());
// A call that was taken over runs in the context of whoever launched DBOS here. Its rounds come in at its own place.
const places = new Map<string, Place>();
observe('mrtr:round', ({ call, phase }) => {
  const place = current.getStore();
  if (place && phase === 'start') places.set(call, place);
});
observeDiagnostics((diagnostic) => {
  const { call = '' } = diagnostic.event as { readonly call?: string };
  const place = places.get(call) ?? current.getStore() ?? connection;
  // Without its database this process ends.
  if (place) database.remote.diagnostic(place, diagnostic).catch(() => {});
});
await database.remote.hello(name);

async function serve(place: Place, opening: Omit<Opening, keyof Place>): Promise<Opened> {
  const { module, name: exported = 'option', postgres, key, legacy, version } = opening;
  const subject = ((await import(module)) as Modules)[exported];
  if (!subject) throw new Error(`${module} exports no '${exported}'.`);
  const state = requestStatePolicy({ keys: [Buffer.from(key, 'base64')], legacy, version, singleUse: false });
  // Told only by an option that publishes no diagnostics.
  const onEntry = () => {
    database.remote.diagnostic(place, { channel: 'mrtr:handler', event: {} }).catch(() => {});
  };
  const running = subject.create({ world: remoteWorld(database, place), state, postgres, onEntry });
  if (opening.serve === 'stdio') {
    connection = place;
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
