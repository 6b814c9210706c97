/** Parks a given number of frames of shape H, and prints the cost. Needs `--expose-gc`. */
import { createHook } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { textResult } from '@mrtr/core';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { z } from 'zod';
import type { Parked } from '../parked-frames.ts';
import { contextOf } from '../subject/context.ts';
import { heapUsed } from './heap.ts';

const [frames, ttlSeconds] = process.argv.slice(2).map(Number) as [number, number];
const AT_ONCE = 500;
const Answer = z.object({ units: z.enum(['metric', 'imperial']) });
const inputResponses = { units: { action: 'accept', content: { units: 'metric' } } };

const store = new ContinuationStore({ maxFrames: frames, ttlSeconds });
let ended = 0;

const callback = linear(
  async ({ location }: { readonly location: string }, ctx) => {
    try {
      const { units } = await ctx.elicit('Which units?', Answer);
      return textResult(`${location}: ${units}`);
    } finally {
      ended++;
    }
  },
  { store },
);

let timers = 0;
// An id for each call, as the boundary gives.
const first = () => contextOf({ round: 1, id: randomBytes(16).toString('base64url') });
const park = async (at: number) =>
  ((await callback({ location: `place ${at}` }, first())) as { readonly requestState: string }).requestState;

/** Everything that is kept for later, in as few objects as possible. */
async function parkAll(): Promise<string[]> {
  const states = new Array<string>(frames);
  for (let from = 0; from < frames; from += AT_ONCE) {
    const parked = await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, frames - from) }, (_, at) => park(from + at)),
    );
    for (const [at, state] of parked.entries()) states[from + at] = state;
  }
  return states;
}

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;

/** The longest block of the event loop while all parked frames expired. */
async function longestBlock(): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  while (ended < frames) await new Promise((resolve) => setTimeout(resolve, 1));
  delay.disable();
  // The monitor's own interval is part of its measurement.
  return delay.max / 1e6 - 1;
}

const hook = createHook({ init: (_id, type) => void (type === 'Timeout' && timers++) });

// Run everything once, so that nothing is compiled or grown for the first time during the measurement. Count timers
// here and not later: with a hook, each promise carries two more numbers.
hook.enable();
const warm = await Promise.all(Array.from({ length: Math.min(10_000, frames) }, (_, at) => park(at)));
for (const state of warm) await callback({ location: '' }, contextOf({ round: 2, state, inputResponses }));
hook.disable();
ended = 0;

const before = await heapUsed();
const states = await parkAll();
// This process keeps the tokens that clients would keep, as flat strings of equal length.
const keysBytes = (states[0]?.length ?? 0) + 16 + 8;
const held = await heapUsed();
const result: Parked = { frames, heapEach: (held - before) / frames - keysBytes, timers };

if (ttlSeconds < 600) {
  states.length = 0;
  result.longestBlockMs = await longestBlock();
} else {
  const times: number[] = [];
  for (const state of states) {
    const ctx = contextOf({ round: 2, state, inputResponses });
    const started = performance.now();
    await callback({ location: '' }, ctx);
    if (times.length < 50_000) times.push((performance.now() - started) * 1000);
  }
  states.length = 0;
  result.resumeMicroseconds = percentile(times, 0.5);
  times.length = 0;
  result.leftEach = ((await heapUsed()) - before) / frames;
}
process.stdout.write(JSON.stringify(result));
