import { protectedServer, requestStatePolicy } from '@mrtr/core';
import { createWorld, GET_WEATHER, Units } from '@mrtr/example-tools';
import { poster } from '@mrtr/harness';
import { type HttpHosting, type ServerInstance, serveHttp } from '@mrtr/hosting/http';
import { option } from '@mrtr/option-h';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { expect, onTestFinished, test } from 'vitest';

const state = requestStatePolicy({ keys: ['k'.repeat(32)] });

/** Serves until the test ends, or until it is closed. */
async function hosting(served: ServerInstance): Promise<HttpHosting> {
  const http = await serveHttp(served, { drainMs: 100 });
  onTestFinished(() => http.close());
  return http;
}

/** The first round of a call, which leaves a handler waiting. */
const park = async (url: URL, name: string): Promise<string> =>
  (await poster(url)('tools/call', { name, arguments: { location: 'Tokyo' } })).text;

test('a server that closes drops the waiting handlers of option H', async () => {
  const running = option.create({ world: createWorld(), state });
  const { url, close } = await hosting(running);
  expect(await park(url, GET_WEATHER)).toContain('input_required');
  expect(running.framesHeld?.()).toBe(1);
  await close();
  expect(running.framesHeld?.()).toBe(0);
});

test('a handler that waits while its server closes cleans up after itself', async () => {
  const store = new ContinuationStore();
  const done: string[] = [];
  const { url, close } = await hosting({
    server() {
      const server = protectedServer({ name: 'parking', version: '1.0.0' }, state);
      const tool = linear(
        async (_args: unknown, ctx) => {
          try {
            await ctx.elicit('Which units?', Units);
            done.push('went on');
            return { content: [] };
          } finally {
            done.push('cleaned up');
          }
        },
        { store },
      );
      server.registerTool('parked', {}, (ctx) => tool({}, ctx));
      return server;
    },
    close: () => store.close(),
  });
  expect(await park(url, 'parked')).toContain('input_required');
  expect(done).toEqual([]);
  await close();
  expect({ done, parked: store.parked }).toEqual({ done: ['cleaned up'], parked: 0 });
});
