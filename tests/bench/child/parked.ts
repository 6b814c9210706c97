/** Parks a given number of frames of shape H, and prints the heap that each takes. Needs `--expose-gc`. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { GET_WEATHER, type GetWeather, getWeatherTool, Units } from '@mrtr/comparison';
import { protectedServer, textResult } from '@mrtr/core';
import { poster } from '@mrtr/harness';
import { ContinuationStore, type LinearContext, linear } from '@mrtr/shapes/linear';
import { round, WEATHER } from '../call.ts';
import type { Parked } from '../parked-frames.ts';
import { policy } from '../subjects.ts';

const frames = Number(process.argv[2]);
const AT_ONCE = 50;
const store = new ContinuationStore({ limits: { frames } });
// With single use, the ledger keeps each finished call's token until it expires: some 400 bytes that no frame leaves.
const state = policy(false);
const handler = linear(
  async ({ location }: GetWeather, ctx: LinearContext) => {
    const { units } = await ctx.elicit('Which units?', Units);
    return textResult(`${location}: ${units}`);
  },
  { store },
);
const post = poster(
  createMcpHandler(() => {
    const server = protectedServer({ name: 'parked', version: '0.0.0' }, state);
    server.registerTool(GET_WEATHER, getWeatherTool, handler);
    return server;
  }),
);

async function parkAll(count: number): Promise<string[]> {
  const states = new Array<string>(count);
  for (let from = 0; from < count; from += AT_ONCE) {
    const length = Math.min(AT_ONCE, count - from);
    const asked = await Promise.all(Array.from({ length }, () => round(post, WEATHER)));
    for (const [at, reply] of asked.entries()) states[from + at] = reply?.requestState ?? '';
  }
  return states;
}

async function finishAll(states: readonly string[]): Promise<void> {
  for (const requestState of states)
    await round(post, WEATHER, { inputRequests: { units: {} }, requestState });
}

/** Heap in use after a full collection. */
async function heapUsed(): Promise<number> {
  for (let pass = 0; pass < 4; pass++) {
    await new Promise((resolve) => setImmediate(resolve));
    (globalThis as { readonly gc?: () => void }).gc?.();
  }
  return process.memoryUsage().heapUsed;
}

// A warm-up, so that the measurement does not include compiling and growing.
await finishAll(await parkAll(Math.min(2000, frames)));
const before = await heapUsed();
const states = await parkAll(frames);
if (store.parked !== frames) throw new Error(`Of ${frames} calls ${store.parked} are parked.`);
// This process keeps the tokens that clients would keep, as flat strings of equal length.
const keysBytes = (states[0]?.length ?? 0) + 16 + 8;
const heapEach = ((await heapUsed()) - before) / frames - keysBytes;
await finishAll(states);
states.length = 0;
const result: Parked = { heapEach, leftEach: ((await heapUsed()) - before) / frames };
process.stdout.write(JSON.stringify(result), () => process.exit());
