/** Goal 4: the cost of waiting handlers of shape H. */
import type { Benchmark, Figure } from './benchmark.ts';
import { report } from './child/program.ts';

/** The output of the measuring process. */
export interface Parked {
  readonly frames: number;
  readonly heapEach: number;
  readonly timers: number;
  resumeMicroseconds?: number;
  leftEach?: number;
  longestBlockMs?: number;
}

const COUNTS = { quick: [1000], full: [10_000, 100_000, 500_000], thorough: [10_000, 100_000, 500_000] };
// Long enough to park 100 000 and to measure the heap before the first of them expires.
const EXPIRES_AFTER_SECONDS = 8;

const shownCount = (count: number): string => `${count.toLocaleString('en').replace(',', ' ')} frames`;

async function parked(count: number): Promise<readonly Figure[]> {
  const flags = ['--expose-gc', '--max-old-space-size=8192'];
  const { heapEach, timers, resumeMicroseconds, leftEach } = await report<Parked>(
    'parked',
    [`${count}`, '600'],
    flags,
  );
  const what = (of: string) => `${shownCount(count)}, ${of}`;
  return [
    { what: what('heap each'), unit: 'B', value: heapEach, goal: { most: 1024 } },
    {
      what: what('left of each when they are drained'),
      unit: 'B',
      value: leftEach ?? Number.NaN,
      goal: { most: 16 },
    },
    { what: what('timers'), unit: '', value: timers, goal: { most: 1 } },
    { what: what('resuming one'), unit: 'µs', value: resumeMicroseconds ?? Number.NaN, goal: { most: 100 } },
  ];
}

async function expiring(count: number): Promise<Figure> {
  const args = [`${count}`, `${EXPIRES_AFTER_SECONDS}`];
  const { longestBlockMs = Number.NaN } = await report<Parked>('parked', args, ['--expose-gc']);
  const what = `${shownCount(count)} expire, longest block of the event loop`;
  return { what, unit: 'ms', value: longestBlockMs, goal: { most: 10 } };
}

export const parkedFrames: Benchmark = {
  name: 'parked-frames',
  title: 'Parked handlers of shape H',
  async run({ kind }) {
    const figures: Figure[] = [];
    // They may run side by side, because they measure memory.
    figures.push(...(await Promise.all(COUNTS[kind].map(parked))).flat());
    figures.push({
      what: 'An async function that awaits one promise, heap each',
      unit: 'B',
      value: await report<number>('awaiting', ['100000'], ['--expose-gc']),
    });
    figures.push(await expiring(kind === 'quick' ? 1000 : 100_000));
    return {
      figures,
      notes: [
        'Resuming “in microseconds” is taken as at most 100 of them, the turn of the event loop included.',
      ],
    };
  },
};
