/**
 * The lower limit for a parked handler: async functions with their arguments, each at one promise, in a map. Needs
 * `--expose-gc`.
 */
import { heapUsed } from './heap.ts';

const functions = Number(process.argv[2]);
const waiting = new Map<number, (units: string) => void>();
let ended = 0;

async function handler({ location }: { readonly location: string }, units: Promise<string>): Promise<string> {
  try {
    return `${location}: ${await units}`;
  } finally {
    ended++;
  }
}

function park(at: number): void {
  void handler(
    { location: `place ${at}` },
    new Promise((resolve) => {
      waiting.set(at, resolve);
    }),
  );
}

for (let at = 0; at < 2000; at++) park(at);
for (const resolve of waiting.values()) resolve('metric');
waiting.clear();
await new Promise(setImmediate);
if (ended !== 2000) throw new Error(`Of 2000 functions ${ended} ended.`);

const before = await heapUsed();
for (let at = 0; at < functions; at++) park(at);
process.stdout.write(JSON.stringify(((await heapUsed()) - before) / functions));
