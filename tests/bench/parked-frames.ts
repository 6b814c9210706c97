/** The memory of waiting handlers of shape H. */
import type { Benchmark } from './benchmark.ts';
import { report } from './child/program.ts';

/** The output of the measuring process. */
export interface Parked {
  readonly heapEach: number;
  readonly leftEach: number;
}

const COUNTS = { quick: [500], full: [10_000, 100_000] };

export const parkedFrames: Benchmark = {
  name: 'parked-frames',
  title: 'Parked handlers of shape H',
  async run({ kind }) {
    const figures = COUNTS[kind].map(async (count) => {
      const { heapEach, leftEach } = await report<Parked>('parked', [`${count}`], ['--expose-gc']);
      const what = `${count.toLocaleString('en').replace(',', ' ')} frames`;
      return [
        { what: `${what}, heap each`, unit: 'B', value: heapEach },
        {
          what: `${what}, left of each when they have ended`,
          unit: 'B',
          value: leftEach,
          goal: { most: 16 },
        },
      ] as const;
    });
    // They may run side by side, because they measure memory.
    const measured = (await Promise.all(figures)).flat();
    return { figures: measured };
  },
};
