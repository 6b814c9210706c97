/** An HTTP server that tells how long its event loop was blocked, at most, since it was last asked. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { serveHttp } from '@mrtr/hosting/http';
import { running, SHAPES } from '../subject/options.ts';

const [name = ''] = process.argv.slice(2);
const option = SHAPES.find(({ id }) => id === name);
if (!option) throw new Error(`There is no option ${name}.`);
const { url } = await serveHttp(running(option));
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

function blocked(): number {
  const ms = delay.max / 1e6;
  delay.reset();
  return ms;
}

process.on('message', (message) => process.send?.(message === 'blocked' ? blocked() : url.href));
process.on('disconnect', () => process.exit());
