/** Counts what a call makes, and prints it as JSON: `{ [subject]: Work }`. */
import { createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { getWeatherTool, resolveWorkItemTool } from '@mrtr/comparison';
import { poster } from '@mrtr/harness';
import { call, WEATHER } from '../call.ts';
import { servers } from '../subjects.ts';

const WARM_UP = 10;
const CALLS = 50;

/** What one call makes. */
export interface Work {
  hashes: number;
  ciphers: number;
  /** Requests to the system for random bytes. */
  randoms: number;
  timers: number;
  /** Conversions of a tool's schema to JSON Schema. */
  schemas: number;
  /** AbortControllers. */
  controllers: number;
  promises: number;
}

const nothing = (): Work => ({
  ...{ hashes: 0, ciphers: 0, randoms: 0, timers: 0 },
  ...{ schemas: 0, controllers: 0, promises: 0 },
});
let work = nothing();

/** Counts each call of `owner[method]` as `name`. */
function count<Owner extends object>(name: keyof Work, owner: Owner, method: keyof Owner): void {
  owner[method] = new Proxy(owner[method] as (...given: unknown[]) => object, {
    apply(target, self, given) {
      work[name]++;
      return Reflect.apply(target, self, given);
    },
    construct(target, given, made) {
      work[name]++;
      return Reflect.construct(target, given, made);
    },
  }) as Owner[keyof Owner];
}

for (const method of ['hash', 'createHash', 'createHmac'] as const) count('hashes', crypto, method);
for (const method of ['createCipheriv', 'createDecipheriv'] as const) count('ciphers', crypto, method);
for (const method of ['randomBytes', 'randomFillSync', 'randomUUID'] as const)
  count('randoms', crypto, method);
syncBuiltinESMExports();
count('controllers', globalThis, 'AbortController');
for (const { inputSchema } of [getWeatherTool, resolveWorkItemTool])
  count('schemas', inputSchema['~standard'].jsonSchema, 'input');
createHook({
  init(_id, type) {
    if (type === 'PROMISE') work.promises++;
    if (type === 'Timeout' || type === 'Immediate') work.timers++;
  },
}).enable();

async function measure(name: string): Promise<Work> {
  const post = poster(createMcpHandler(await servers(name)));
  for (let at = 0; at < WARM_UP; at++) await call(post, WEATHER);
  work = nothing();
  for (let at = 0; at < CALLS; at++) await call(post, WEATHER);
  const { randoms, ...counts } = work;
  const ofOne = Object.entries(counts).map(([name, made]) => [name, made / CALLS]);
  // The pool is filled at some call or other.
  return { ...Object.fromEntries(ofOne), randoms: Math.floor(randoms / CALLS) } as Work;
}

const all: Record<string, Work> = {};
for (const name of process.argv.slice(2)) all[name] = await measure(name);
process.stdout.write(JSON.stringify(all), () => process.exit());
