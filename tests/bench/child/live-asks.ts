/** Makes calls of an old client to an option that asks live, and says what each leaves on the heap. `--expose-gc`. */
import { option as c } from '@mrtr/option-c';
import { option as d } from '@mrtr/option-d';
import { oldCaller } from '../subject/old-client.ts';
import { running } from '../subject/options.ts';
import { heapUsed } from './heap.ts';

const [id, count] = process.argv.slice(2);
const calls = Number(count);
const one = await oldCaller(running(id === 'c' ? c : d).server());
for (let at = 0; at < Math.min(calls, 2000); at++) await one();
const before = await heapUsed();
for (let at = 0; at < calls; at++) await one();
process.stdout.write(JSON.stringify(((await heapUsed()) - before) / calls));
