import { expect, test } from 'vitest';
import { describeItem, memoryWorkItems } from './work-items.ts';

test('a duplicate is written once, with its original', async () => {
  const items = memoryWorkItems();
  const item = await items.resolve(4522, 'Duplicate', 4301);
  expect(item).toEqual({ id: 4522, state: 'Resolved', resolution: 'Duplicate', original: 4301 });
  expect(items.writes).toEqual([item]);
  expect(await items.find(4522)).toEqual(item);
  expect(describeItem(item)).toBe('#4522 resolved as Duplicate of #4301.');
});

test('an invalid change is rejected and writes nothing', async () => {
  const items = memoryWorkItems();
  await expect(items.setState(1, 'Active')).rejects.toThrow('There is no work item #1.');
  await expect(items.resolve(1, 'Fixed')).rejects.toThrow('There is no work item #1.');
  await expect(items.resolve(4522, 'Duplicate', 7)).rejects.toThrow('There is no work item #7.');
  await expect(items.resolve(4522, 'Duplicate', 4522)).rejects.toThrow(
    '#4522 cannot be a duplicate of itself.',
  );
  await expect(items.resolve(4522, 'Duplicate')).rejects.toThrow('name its original');
  await expect(items.resolve(4522, 'Fixed', 4301)).rejects.toThrow('Only a duplicate has an original');
  expect(items.writes).toEqual([]);
  expect(await items.find(4522)).toEqual({ id: 4522, state: 'Active' });
});
