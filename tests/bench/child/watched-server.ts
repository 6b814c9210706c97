/**
 * An HTTP server that tells how long its event loop was blocked, at most, since it was last asked. No stretch is longer
 * than the longest delay of a timer, nor than the processor time that was used: the lesser is what other work on the
 * machine disturbed less.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { serveHttp } from '@mrtr/hosting/http';
import { running, SHAPES } from '../subject/options.ts';
import { cpuUsed } from './cpu.ts';

const [name = ''] = process.argv.slice(2);
const option = SHAPES.find(({ id }) => id === name);
if (!option) throw new Error(`There is no option ${name}.`);
const { url } = await serveHttp(running(option));
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

let usedBefore = 0;

function blocked(): number {
  const used = cpuUsed();
  const ms = Math.min(delay.max / 1e6, (used - usedBefore) / 1000);
  usedBefore = used;
  delay.reset();
  return ms;
}

process.on('message', (message) => process.send?.(message === 'blocked' ? blocked() : url.href));
process.on('disconnect', () => process.exit());
