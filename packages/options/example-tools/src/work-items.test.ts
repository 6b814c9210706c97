import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeItem, memoryWorkItems, Original, Resolution } from './work-items.ts';

test('a duplicate is written once, with its original', async () => {
  const items = memoryWorkItems();
  const item = await items.resolve(4522, 'Duplicate', 4301);
  expect(item).toEqual({ id: 4522, state: 'Resolved', resolution: 'Duplicate', original: 4301 });
  expect(items.writes).toEqual([item]);
  expect(await items.find(4522)).toEqual(item);
  expect(describeItem(item)).toBe('#4522 resolved as Duplicate of #4301.');
});

test('any other resolution names no original', async () => {
  const items = memoryWorkItems();
  expect(describeItem(await items.resolve(4522, 'Fixed'))).toBe('#4522 resolved as Fixed.');
  expect(describeItem(await items.resolve(4522, "Won't fix"))).toBe("#4522 resolved as Won't fix.");
});

test('a reopened item forgets its resolution', async () => {
  const items = memoryWorkItems();
  await items.resolve(4522, 'Fixed');
  const item = await items.setState(4522, 'Active');
  expect(item).toEqual({ id: 4522, state: 'Active' });
  expect(describeItem(item)).toBe('#4522 is now Active.');
  expect(items.writes).toHaveLength(2);
});

test('an unknown item is not found', async () => {
  expect(await memoryWorkItems().find(1)).toBeUndefined();
});

test('an invalid change is refused and writes nothing', async () => {
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

test('the questions use only the JSON schema that elicitation allows', () => {
  expect(z.toJSONSchema(Original)).toMatchObject({
    properties: { original: { type: 'integer', minimum: 1, maximum: 99999 } },
    required: ['original'],
  });
  expect(z.toJSONSchema(Resolution)).toMatchObject({
    properties: { resolution: { type: 'string', enum: ['Fixed', 'Duplicate', "Won't fix"] } },
    required: ['resolution'],
  });
});
