import nodeCrypto, * as everything from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { observe } from '@mrtr/core/events';
import { Deferred, settle } from '@mrtr/harness/internal';
import { expect, onTestFinished, test } from 'vitest';
import { kelvin, metric } from '../fixture.test-support.ts';
import { answerAll, askUnits, connectTo, type Handler } from './journaling.test-support.ts';

const STRICT = { strict: true };

const HERE = fileURLToPath(import.meta.url);
const lines = readFileSync(HERE, 'utf8').split('\n');

const UUID = 'crypto.randomUUID()';
const SLIPS = [
  { how: 'clock', called: 'Date.now()', instead: 'ctx.now()', slip: () => Date.now() },
  { how: 'dice', called: 'Math.random()', instead: 'ctx.random()', slip: () => Math.random() },
  { how: 'global', called: UUID, instead: 'ctx.uuid()', slip: () => crypto.randomUUID() },
  { how: 'named import', called: UUID, instead: 'ctx.uuid()', slip: () => randomUUID() },
  { how: 'star import', called: UUID, instead: 'ctx.uuid()', slip: () => everything.randomUUID() },
  { how: 'default import', called: UUID, instead: 'ctx.uuid()', slip: () => nodeCrypto.randomUUID() },
];

test.each(SLIPS)(
  'an unwrapped $called is reported with its file and line ($how)',
  async ({ how, called, instead, slip }) => {
    const line = lines.findIndex((text) => text.includes(`how: '${how}'`)) + 1;
    const call = called.replace(/[().]/g, '\\$&');
    const report = expect.stringMatching(
      new RegExp(`^${call} at .*strict\\.test\\.ts:${line}:\\d+\\)?: its value differs in each round`),
    );
    const handler: Handler = async (ctx) => {
      await askUnits(ctx);
      return typeof slip();
    };
    const client = await connectTo(handler, STRICT);
    const reported = await answerAll(client, { units: metric });
    expect(reported).toEqual({ fails: report });
    expect(reported.fails).toContain(`Use ${instead}, or wrap it in ctx.once.`);

    // Only in strict mode.
    const lenient = await answerAll(await connectTo(handler), { units: metric });
    expect(lenient).toEqual({ says: JSON.stringify(typeof slip()) });
  },
);

test('wrapped calls, and values of the context, are not reported', async () => {
  const client = await connectTo(async (ctx) => {
    const wrapped = await ctx.once('all', async () => {
      const now = SLIPS.map(({ slip }) => typeof slip());
      await null;
      return [...now, ...SLIPS.map(({ slip }) => typeof slip())];
    });
    const given = [typeof ctx.now(), typeof ctx.random(), typeof ctx.uuid()];
    await askUnits(ctx);
    return [new Set(wrapped).size, ...given];
  }, STRICT);
  expect(await answerAll(client, { units: metric })).toEqual({ says: '[2,"number","number","string"]' });
});

test('an unwrapped call right after an awaited effect is reported', async () => {
  const client = await connectTo(async (ctx) => {
    await ctx.once('effect', async () => Date.now());
    return Date.now();
  }, STRICT);
  expect(await client.send()).toEqual({ fails: expect.stringMatching(/^Date\.now\(\) at /) });
});

test('of two calls that take turns, only the strict one is watched', async () => {
  const { now } = Date;
  const turns = [new Deferred(), new Deferred()];
  const looks: string[] = [];
  const handler: Handler = async () => {
    for (const turn of turns) {
      await turn.promise;
      try {
        Date.now();
        looks.push('looked');
      } catch {
        looks.push('stopped');
      }
    }
  };
  const [strict, lenient] = [await connectTo(handler, STRICT), await connectTo(handler)];
  const calls = [strict.send(), lenient.send()];
  for (const turn of turns) {
    turn.open();
    await settle();
  }
  expect(await Promise.all(calls)).toEqual([{ says: 'nothing' }, { says: 'nothing' }]);
  expect(looks).toEqual(['stopped', 'looked', 'stopped', 'looked']);
  expect(Date.now).toBe(now);
});

test('the rehearsal of a round goes as far as the journal does, and executes nothing', async () => {
  const reached: string[] = [];
  const client = await connectTo(async (ctx) => {
    reached.push('top');
    await ctx.once('effect', () => reached.push('effect'));
    reached.push('below');
    await askUnits(ctx);
    reached.push('answered');
    await ctx.once('last', () => reached.push('last'));
    reached.push('end');
  }, STRICT);
  const asked = await client.send();
  expect(reached.splice(0)).toEqual(['top', 'effect', 'below']);
  const again = await client.answer(asked, { units: kelvin });
  expect(reached.splice(0)).toEqual(['top', 'below', 'top', 'below']);
  expect(await client.answer(again, { units: metric })).toEqual({ says: 'nothing' });
  expect(reached).toEqual(['top', 'below', 'top', 'below', 'answered', 'last', 'end']);
});

test('the rehearsal finds a handler that takes other steps in each entry', async () => {
  const ran: string[] = [];
  let entry = 0;
  const client = await connectTo(async (ctx) => {
    const key = ++entry % 2 ? 'odd' : 'even';
    await ctx.once(key, () => ran.push(key));
    return askUnits(ctx);
  }, STRICT);
  expect(await answerAll(client, { units: metric })).toEqual({
    fails: expect.stringMatching(/at step 'odd' its journal has an effect.*step 'even'/),
  });
  expect([entry, ran]).toEqual([2, ['odd']]);
});

test('observers may read the clock', async () => {
  const seen: unknown[] = [];
  for (const name of ['mrtr:effect', 'mrtr:handler', 'mrtr:ask', 'mrtr:state'] as const) {
    onTestFinished(observe(name, () => seen.push(Date.now())));
  }
  const client = await connectTo(
    async (ctx) => [await ctx.once('effect', () => 1), await askUnits(ctx)],
    STRICT,
  );
  expect(await answerAll(client, { units: metric })).toEqual({ says: '[1,{"units":"metric"}]' });
  expect(seen.length).toBeGreaterThan(5);
});
