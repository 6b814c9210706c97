import { channel } from 'node:diagnostics_channel';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { observe, publish } from './events.ts';

const event = { call: 'c', target: 'deploy', keys: ['sure'], live: false };

test('the channels are Node’s own, so a tracing library needs only their names', () => {
  const seen: unknown[] = [];
  const listener = (message: unknown) => seen.push(message);
  channel('mrtr:ask').subscribe(listener);
  publish('mrtr:ask', event);
  channel('mrtr:ask').unsubscribe(listener);
  expect(seen).toEqual([event]);
});

test('a subscriber is heard after channels without subscribers were collected as garbage', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  publish('mrtr:ask', event);
  await nextTurn();
  collectGarbage();
  const seen: unknown[] = [];
  const stop = observe('mrtr:ask', (message) => seen.push(message));
  // A finalizer of Node's runs in a turn of its own.
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  publish('mrtr:ask', event);
  stop();
  expect(seen).toEqual([event]);
});
