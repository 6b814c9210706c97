/**
 * The spawned program: an instance that serves subjects for the measuring process, and reports their events. It ends with
 * that process.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { startSubject } from '@mrtr/comparison/calls';
import {
  addressOf,
  type LoadedOption,
  loadOption,
  OPTIONS,
  type RunningOption,
} from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { LineTrace } from '@mrtr/harness';
import { type Diagnostic, observeDiagnostics } from '@mrtr/harness/internal';
import { serveHttp } from '@mrtr/hosting/http';
import { authorsFile } from './authors-file.ts';
import type { DatabaseMethods, InstanceAddress, InstanceMethods, Opening } from './messages.ts';
import { remoteWorld } from './remote-world.ts';
import { rpcOver } from './rpc.ts';

interface Opened {
  readonly running: RunningOption;
  readonly url: string;
  close(): Promise<void>;
}

type Startable = Pick<LoadedOption, 'create'> & { readonly isBare?: boolean };

const opened = new Map<string, Opened>();
// Diagnostics channels are process-wide. This context attributes an event to the conversation of its port.
const current = new AsyncLocalStorage<InstanceAddress>();
// The trace of lines is process-wide too: it is of the one conversation at a time whose lines are counted.
let trace: LineTrace | undefined;
let traced: InstanceAddress | undefined;

const methods: InstanceMethods = {
  async open(place, opening) {
    const serving = await current.run(place, () => serve(place, opening));
    opened.set(place.scope, serving);
    return serving.url;
  },
  async close(scope) {
    const serving = opened.get(scope);
    opened.delete(scope);
    // A later conversation may bring its state, and be told why that is rejected.
    for (const [call, place] of places) if (place.scope === scope) places.delete(call);
    await serving?.close();
  },
  framesHeld: (scope) => opened.get(scope)?.running.framesHeld?.() ?? 0,
};

const database = rpcOver<DatabaseMethods, InstanceMethods>(
  process,
  methods,
  ['hello', 'diagnostic'],
  sendLines,
);
// End with the connection to the database.
void database.closed.then(() => process.exit());
// A call that was taken over runs in the context that launched DBOS. Its rounds, on its own port, name its place.
const places = new Map<string, InstanceAddress>();
observe('mrtr:round', ({ call, phase }) => {
  const place = current.getStore();
  if (place && phase === 'start') places.set(call, place);
});
observeDiagnostics((diagnostic) => {
  const { call = '' } = diagnostic.event as { readonly call?: string };
  const place = places.get(call) ?? current.getStore();
  if (place) sendDiagnostic(place, diagnostic);
});
await database.remote.hello();

function sendDiagnostic(place: InstanceAddress, diagnostic: Diagnostic) {
  database.remote.diagnostic(place, diagnostic).catch(() => {});
}

/** Sends the lines that ran since the last call. Called before each message, so the lines arrive before their effects. */
function sendLines() {
  const lines = traced && trace?.take();
  if (traced && lines) sendDiagnostic(traced, { channel: 'mrtr:lines', event: lines });
}

/** Loads an option by the URL of its server, or a subject that a module exports. */
async function load(module: string, exported: string) {
  const listed = OPTIONS.find((option) => addressOf(option) === module);
  if (listed) return loadOption(listed);
  const subject = ((await import(module)) as Readonly<Record<string, Startable | undefined>>)[exported];
  if (!subject) throw new Error(`${module} exports no '${exported}'.`);
  return subject;
}

async function serve(place: InstanceAddress, opening: Opening) {
  const { module, name: exported = 'option', postgres, key, legacy, version, singleUse } = opening;
  if (opening.countLines) trace ??= new LineTrace(authorsFile);
  const subject = await load(module, exported);
  const once = singleUse === 'shared' ? { ledger: database.remote } : { singleUse };
  const versioned = version === undefined ? {} : { version };
  const policy = requestStatePolicy({ keys: [Buffer.from(key, 'base64')], legacy, ...versioned, ...once });
  const onEntry = () => sendDiagnostic(place, { channel: 'mrtr:handler', event: {} });
  const world = remoteWorld(database, place);
  // An author's function that only returns a handler is no line of the call.
  const listeners = { onServer: () => void trace?.take(), onEntry };
  const running = startSubject(subject, { world, policy, postgres }, listeners);
  if (opening.countLines) traced = place;
  // Discard the lines that ran while the module was loaded.
  trace?.take();
  const { url, close } = await serveHttp(running, { legacyClients: opening.serve, drainSeconds: 1 });
  return { running, url: url.href, close };
}
