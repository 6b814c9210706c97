import {
  ask,
  askLive,
  cancelledResult,
  isRefusal,
  readAnswer,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { expect, onTestFinished, test } from 'vitest';
import { as, metric, Site, tool, units } from '../fixture.test-support.ts';
import { byEra } from './by-era.ts';

const register = tool(
  byEra({
    modern(_args, ctx) {
      const answer = readAnswer(ctx, 'units', units);
      if (isRefusal(answer)) return cancelledResult('units');
      if (answer.kind !== 'accepted') return ask({ units });
      return textResult(`modern: ${answer.value.units}`);
    },
    async legacy(_args, ctx) {
      const answer = await askLive(ctx, 'units', units);
      return isRefusal(answer) ? cancelledResult('units') : textResult(`legacy: ${answer.value.units}`);
    },
  }),
);

test.each([
  ['a modern client gets the modern handler, once a round', 'modern', 2],
  ['an old client gets the legacy handler, once', 'legacy', 1],
])('%s', async (_title, era, count) => {
  const entries: unknown[] = [];
  onTestFinished(observe('mrtr:handler', (event) => entries.push(event)));
  const site = new Site(register);
  const client = era === 'modern' ? await site.connect(() => metric) : await site.connectLegacy(() => metric);
  expect(await client.call()).toEqual({ says: `${era}: metric` });
  const entry = { call: expect.any(String), shape: 'by-era', target: 'tool', part: 'handler' };
  expect(entries).toEqual(Array(count).fill(entry));
});

test('its handlers read the caller in the context of the SDK, as a plain handler does', async () => {
  const modern = (_args: unknown, { http }: ServerContext) => textResult(`${http?.authInfo?.extra?.sub}`);
  for (const handler of [byEra({ modern, legacy: modern }), modern]) {
    const site = new Site(tool(handler as never));
    site.caller = as('ada');
    expect(await (await site.connect()).send()).toEqual({ says: 'ada' });
  }
});
