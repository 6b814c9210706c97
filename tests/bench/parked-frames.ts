/** The memory of waiting handlers of shape H. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Benchmark, type Figure, programAt } from './figures.ts';
import { QUICK } from './race.ts';

/** The output of the measuring process, in bytes. */
export interface Parked {
  readonly heapEach: number;
  readonly leftEach: number;
}

async function park(count: number): Promise<readonly Figure[]> {
  const args = ['--expose-gc', programAt('parked'), String(count)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { heapEach, leftEach } = JSON.parse(stdout) as Parked;
  const what = `${count.toLocaleString('en').replace(',', ' ')} frames`;
  return [
    { what: `${what}, heap each`, unit: 'B', value: heapEach, goal: 1700 },
    { what: `${what}, left of each afterwards`, unit: 'B', value: leftEach, goal: 16 },
  ];
}

export const parkedFrames: Benchmark = {
  name: 'parked-frames',
  title: 'Parked handlers of shape H',
  run: (pace) => park(pace === QUICK ? 500 : 100_000),
};
