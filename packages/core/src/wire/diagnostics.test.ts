import { channel } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { observe, publish } from './diagnostics.ts';

const event = { call: 'c', target: 'deploy', keys: ['sure'], live: false };

test('an observer gets the events of its channel, until it ends its subscription', () => {
  const seen: unknown[] = [];
  const end = observe('mrtr:ask', (seenEvent) => seen.push(seenEvent));
  publish('mrtr:ask', event);
  publish('mrtr:handler', { call: 'c', shape: 'once', target: 'deploy', part: 'handler' });
  end();
  publish('mrtr:ask', event);
  expect(seen).toEqual([event]);
});

test('two observers of one channel both get its events, and one may end without the other', () => {
  const seen: string[] = [];
  const ends = ['one', 'other'].map((name) => observe('mrtr:ask', () => seen.push(name)));
  publish('mrtr:ask', event);
  ends[0]?.();
  publish('mrtr:ask', event);
  ends[1]?.();
  expect(seen).toEqual(['one', 'other', 'other']);
});

test('the channels are Node’s own, so a tracing library needs only their names', () => {
  const seen: unknown[] = [];
  const listener = (message: unknown) => seen.push(message);
  channel('mrtr:ask').subscribe(listener);
  publish('mrtr:ask', event);
  channel('mrtr:ask').unsubscribe(listener);
  expect(seen).toEqual([event]);
});
