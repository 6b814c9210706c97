/** What the boundary does for shapes: it seals their state, and explains their mistakes. */
import { ResourceTemplate } from '@modelcontextprotocol/server';
import { ask, textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { kelvin, name, Site, tool, units } from './fixture.test-support.ts';
import { parking } from './linear/parking.test-support.ts';
import { once } from './once/index.ts';

const SEALED = /^v1\./;

test('a replayed result is sealed, although its first client could not be asked', async () => {
  const handler = once(async (_args: object, ctx) => {
    await ctx.once('secret', () => 'a secret');
    return ctx.answer('units', units).kind === 'accepted' ? textResult('done') : ask({ units });
  });
  const site = new Site(tool(handler), { singleUse: 'replay' });
  const [client, mute] = [await site.connect(), await site.connect(undefined, {})];
  const asked = await client.send();
  await mute.answer(asked, { units: kelvin });
  expect((await client.answer(asked, { units: kelvin })).state).toMatch(SEALED);
});

test('a call whose state cannot be sealed does not leave its handler parked', async () => {
  const { site, store } = parking(async (_args, ctx) => textResult(JSON.stringify(await ctx.ask({ name }))), {
    maxBytes: 100,
  });
  expect(await (await site.connect()).send()).toEqual({ rejects: expect.stringContaining('state') });
  expect(store.parked).toBe(0);
});

test('a resource with a template is served', async () => {
  const site = new Site((server) => {
    const template = new ResourceTemplate('test://{id}', { list: undefined });
    const read = once((_uri: URL) => ask({ name }));
    server.registerResource('template', template, {}, read as never);
  });
  expect((await (await site.connect()).resource()).asks).toBeDefined();
});
