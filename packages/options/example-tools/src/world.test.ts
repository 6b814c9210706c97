import { expect, test } from 'vitest';
import { createWorld } from './world.ts';

test('a world reports each effect after it is written', async () => {
  const seen: string[] = [];
  const world = createWorld({
    onAudit: (entry) => seen.push(`${entry}, entry ${world.audit.entries.length}`),
    onWrite: (item) => seen.push(`#${item.id}, write ${world.items.writes.length}`),
  });
  await world.audit.record('Tokyo');
  await world.items.setState(4522, 'Active');
  expect(seen).toEqual(['Tokyo, entry 1', '#4522, write 1']);
});

test('two worlds share nothing', async () => {
  const [one, other] = [createWorld(), createWorld()];
  await one.audit.record('Tokyo');
  await one.items.resolve(4522, 'Fixed');
  expect(other.audit.entries).toEqual([]);
  expect(other.items.writes).toEqual([]);
  expect(await other.items.find(4522)).toEqual({ id: 4522, state: 'Active' });
});

test('the weather can come from elsewhere', async () => {
  const weather = { current: () => Promise.reject(new Error('The station is closed.')) };
  await expect(createWorld({ weather }).weather.current('Tokyo', 'metric')).rejects.toThrow('closed');
});
