import { channel } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { publish } from './diagnostics.ts';

const event = { call: 'c', target: 'deploy', keys: ['sure'], live: false };

test('the channels are Node’s own, so a tracing library needs only their names', () => {
  const seen: unknown[] = [];
  const listener = (message: unknown) => seen.push(message);
  channel('mrtr:ask').subscribe(listener);
  publish('mrtr:ask', event);
  channel('mrtr:ask').unsubscribe(listener);
  expect(seen).toEqual([event]);
});
