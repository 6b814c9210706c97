/**
 * The footgun test: the audit entries of one call. It should be one. Where code above the question runs in every
 * round, there are two.
 */
import { createWorld } from '@mrtr/comparison';
import { loadOptions, OPTIONS } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { converse, host, scriptedUser } from '@mrtr/harness';
import { expect, test } from 'vitest';

const options = await loadOptions(OPTIONS.filter(({ needsPostgres }) => !needsPostgres));
const call = {
  method: 'tools/call',
  params: { name: 'get_weather', arguments: { location: 'Tokyo' } },
} as const;

test('one call writes two audit entries in B and in E naive, and one in every other option', async () => {
  const written = new Map<string, number>();
  for (const { id, create } of options) {
    const world = createWorld();
    const { end } = await converse(
      { client: 'modern', call, user: scriptedUser({ units: ['metric'] }) },
      () => host('memory', () => create({ world, policy: requestStatePolicy() })),
    );
    expect(end.error).toBeUndefined();
    written.set(id, world.audit.entries.length);
  }
  const twice = [...written].flatMap(([id, entries]) => (entries === 2 ? [id] : []));
  const once = [...written].flatMap(([id, entries]) => (entries === 1 ? [id] : []));
  expect(twice).toEqual(['b', 'e-naive']);
  expect(once.length + twice.length).toBe(options.length);
  expect(once.length).toBeGreaterThanOrEqual(10);
});
