import { expect, test, vi } from 'vitest';
import { until, within } from './waiting.ts';

test('a wait for a condition ends as soon as it is true', async () => {
  const seen = [false, false, true];
  const happened = vi.fn(() => seen.shift() ?? false);
  await until(happened, 'the third look');
  expect(happened).toHaveBeenCalledTimes(3);
});

test('a condition that is true at the last look counts', async () => {
  let looks = 0;
  await until(() => ++looks === 4, 'the fourth look', 3);
  expect(looks).toBe(4);
});

test('a wait for a condition that never comes true fails, and says what was waited for', async () => {
  await expect(until(() => false, 'an empty store', 3)).rejects.toThrow(
    'This did not happen in 3 turns of the event loop: an empty store.',
  );
});

test('a promise that takes too long fails with the complaint', async () => {
  await expect(within(1, new Promise(() => {}), () => 'The server did not answer.')).rejects.toThrow(
    'The server did not answer.',
  );
  expect(await within(60_000, Promise.resolve('an answer'), () => '')).toBe('an answer');
});
