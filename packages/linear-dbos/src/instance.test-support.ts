/**
 * The program of one instance: a store and a site on it, which gets what the parent process says. Effects happen in the
 * parent, which outlives it.
 */
import { requestStatePolicy } from '@mrtr/core';
import type { FromParent, Setting, ToParent } from './instances.test-support.ts';
import { Site } from './site.test-support.ts';
import { DbosStore } from './store.ts';

const tell = (message: ToParent) => void process.send?.(message);
const { keys, callerOfStore, ...options } = JSON.parse(process.argv[2] ?? '{}') as Setting;
const effects = new Map<string, (value: string) => void>();
const sent = new Map<number, AbortController>();

const policy = requestStatePolicy({ keys });
const store = await DbosStore.open({
  ...options,
  policy: callerOfStore === undefined ? policy : { ...policy, principal: () => callerOfStore },
  onerror: (error) => tell({ error: `${error.name}: ${error.message}` }),
});
const site = new Site(store, policy, (wanted) => {
  tell(wanted);
  return new Promise((resolve) => effects.set(wanted.key, resolve));
});

async function send({ send: id, ...params }: Extract<FromParent, { send: number }>) {
  const cancelling = new AbortController();
  sent.set(id, cancelling);
  tell({ sent: id, outcome: await site.send(params, cancelling.signal) });
}

process.on('message', (message: FromParent) => {
  if ('send' in message) void send(message);
  else if ('cancel' in message) sent.get(message.cancel)?.abort();
  else if ('done' in message) effects.get(message.done)?.(message.value);
  else if ('parked' in message) tell({ counted: message.parked, parked: store.parked });
  else void store.close().then(() => process.exit());
});
process.on('disconnect', () => process.exit());
tell({ open: true });
