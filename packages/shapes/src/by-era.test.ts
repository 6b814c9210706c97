import { McpServer } from '@modelcontextprotocol/server';
import {
  askLive,
  cancelledResult,
  inputRequired,
  isRefusal,
  observe,
  readAnswer,
  textResult,
} from '@mrtr/core';
import { expect, onTestFinished, test } from 'vitest';
import { byEra } from './by-era.ts';
import { decline, metric, Site, tool, units } from './fixture.test-support.ts';

const register = tool(
  byEra({
    modern(_args, ctx) {
      const answer = readAnswer(ctx, 'units', units);
      if (isRefusal(answer)) return cancelledResult();
      if (answer.kind !== 'accepted') return inputRequired({ inputRequests: { units: units.request } });
      return textResult(`modern: ${answer.value.units}`);
    },
    async legacy(_args, ctx) {
      const answer = await askLive(ctx, 'units', units);
      return isRefusal(answer) ? cancelledResult() : textResult(`legacy: ${answer.value.units}`);
    },
  }),
);

test('a modern client gets the modern handler, once a round', async () => {
  const entries: unknown[] = [];
  onTestFinished(observe('mrtr:handler', (event) => entries.push(event)));
  const site = new Site(register);
  expect(await (await site.connect(() => metric)).call()).toEqual({ says: 'modern: metric' });
  expect(await (await site.connect(() => decline)).call()).toEqual({ says: 'Cancelled.' });
  expect(entries).toEqual(Array(4).fill({ shape: 'by-era', target: 'tool' }));
});

test('an old client gets the legacy handler, once', async () => {
  const entries: unknown[] = [];
  onTestFinished(observe('mrtr:handler', (event) => entries.push(event)));
  const client = await new Site(register).connectLegacy(() => metric);
  expect(await client.call()).toEqual({ says: 'legacy: metric' });
  expect(client.questions).toEqual(['Which units?']);
  expect(entries).toEqual([{ shape: 'by-era', target: 'tool' }]);
});

test('a server that is not protected, where the client could choose its era, is refused', async () => {
  const site = new Site(() => {});
  site.serve(() => {
    const server = new McpServer({ name: 'bare', version: '0' });
    register(server);
    return server;
  });
  expect(await (await site.connect()).send()).toEqual({
    fails: expect.stringContaining('on a server that does not protect it'),
  });
});
