import { expect, test } from 'vitest';
import { afterMicrotasks } from './after-microtasks.ts';

/** Queues `count` microtasks one after the other, as code in one turn may do. */
const microtasks = async (count: number) => {
  for (let n = 0; n < count; n++) await null;
};

test('it is called after every microtask, and before the event loop turns', async () => {
  const events: string[] = [];
  const turned = new Promise<void>((resolve) => setImmediate(() => resolve(void events.push('turn'))));
  afterMicrotasks(() => events.push('done'));
  void microtasks(100).then(() => {
    events.push('microtasks');
    queueMicrotask(() => events.push('one more'));
  });
  await turned;
  expect(events).toEqual(['microtasks', 'one more', 'done', 'turn']);
});

test('all waiting callbacks are called before the work that they queue', async () => {
  const events: string[] = [];
  await new Promise<void>((resolve) => {
    afterMicrotasks(() => {
      events.push('first');
      void microtasks(10).then(() => events.push('of the first'));
      afterMicrotasks(() => resolve(void events.push('third')));
    });
    afterMicrotasks(() => events.push('second'));
  });
  expect(events).toEqual(['first', 'second', 'of the first', 'third']);
});
