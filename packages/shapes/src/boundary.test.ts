/** What the boundary does for shapes: it seals their state, and explains their mistakes. */
import { inputRequired, ResourceTemplate } from '@modelcontextprotocol/server';
import { ask, textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { ada, kelvin, name, Site, tool, units } from './fixture.test-support.ts';
import { parking } from './linear/parking.test-support.ts';
import { once } from './once/index.ts';

const SEALED = /^v1\./;

test('the state of a URL question is sealed for a client that declares only URLs', async () => {
  const pay = inputRequired.elicitUrl({ message: 'Pay', url: 'https://shop.invalid/pay' });
  const site = new Site(tool(once(() => inputRequired({ inputRequests: { pay } }))));
  const { asks, state } = await (await site.connect(undefined, { elicitation: { url: {} } })).send();
  expect(asks).toEqual({ pay: 'Pay' });
  expect(state).toMatch(SEALED);
});

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

test('a key that is not well-formed text is refused, or its answer is found', async () => {
  const key = '\ud800';
  const handler = once((_args: object, ctx) =>
    ctx.answer(key, name).kind === 'accepted' ? textResult('done') : ask({ [key]: name }),
  );
  const client = await new Site(tool(handler)).connect();
  const asked = await client.send();
  if (asked.asks) expect(await client.answer(asked, { [key]: ada })).toEqual({ says: 'done' });
});

test('the error for a value that is not a question says how to make one', async () => {
  const site = new Site(tool(once(() => ask({ name: 'Which name?' as never }))));
  const { fails = '', rejects = '' } = await (await site.connect()).send();
  expect(fails + rejects).not.toMatch(/destructure|undefined/);
});
