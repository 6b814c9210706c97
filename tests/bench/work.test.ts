/**
 * What a call makes more than an empty handler does, with the default policy: counted exactly, the same on every Node. No
 * time is measured here. A number may rise only with its reason beside it; one that has fallen is written down too.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundle } from '../testkit/bundle.ts';
import type { Work } from './child/work.ts';

/** Of one call with one question, which makes two requests. */
const OF_EACH: Omit<Work, 'promises'> = {
  // The binding of the token, when it is sealed and when it is opened, and the answers, for the ledger.
  hashes: 3,
  // The token is sealed in the first request and opened in the second. The result stays in this process, unsealed.
  ciphers: 2,
  // Nonces and ids come from a pool, which is filled once in some hundred calls.
  randoms: 0,
  // The ledger of the process answers at once.
  timers: 0,
  // The JSON Schema of a tool is made once. The empty handler has it made in each request.
  schemas: 0,
  // The handler's signal is made when its author reads it.
  controllers: 0,
};

const COSTS: Readonly<Record<string, Work>> = {
  f: { ...OF_EACH, promises: 46 },
  g: { ...OF_EACH, promises: 40 },
  h: { ...OF_EACH, promises: 48 },
  i: { ...OF_EACH, promises: 64 },
  // The replay waits for all microtasks before it ends a round.
  j: { ...OF_EACH, promises: 84 },
};

const SUBJECTS = ['empty', ...Object.keys(COSTS)];

test('a call makes no more of what can be counted than its table says', async () => {
  const program = await bundle(new URL('child/work.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program, ...SUBJECTS]);
  const { empty, ...shapes } = JSON.parse(stdout) as Record<string, Work> & { readonly empty: Work };
  expect(empty.schemas).toBe(2);
  const more = Object.entries(shapes).map(([id, work]) => {
    const counts = Object.entries(work) as [keyof Work, number][];
    return [
      id,
      Object.fromEntries(counts.map(([name, made]) => [name, made - (name === 'schemas' ? 0 : empty[name])])),
    ];
  });
  expect(Object.fromEntries(more)).toEqual(COSTS);
});

// V8 makes an object a slow dictionary if its getter is another function than that of the object before, and keeps the whole
// request of a getter until a major collection.
test('what a handler gets has one hidden class in all requests', async () => {
  const program = await bundle(new URL('child/hidden-class.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--no-warnings',
    '--allow-natives-syntax',
    program,
  ]);
  expect(JSON.parse(stdout)).toEqual({ looked: ['context', 'mcpReq', 'stamp'], slow: [] });
});
