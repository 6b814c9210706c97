/** Makes calls of an old client to an option that asks live, and prints how much heap each leaves. `--expose-gc`. */
import { oldCaller } from '../subject/old-client.ts';
import { LIVE, running } from '../subject/options.ts';
import { heapUsed } from './heap.ts';

const [id, count] = process.argv.slice(2);
const calls = Number(count);
const option = LIVE.find((live) => live.id === id);
if (!option) throw new Error(`No option asks live by the name of ${id}.`);
const one = await oldCaller(running(option).server());
for (let at = 0; at < Math.min(calls, 2000); at++) await one();
const before = await heapUsed();
for (let at = 0; at < calls; at++) await one();
process.stdout.write(JSON.stringify(((await heapUsed()) - before) / calls));
