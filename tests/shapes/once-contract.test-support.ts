/** The contract of `ctx.once`, for all shapes that have it. */

import { CannotAsk, cancelledResult, type InputKind, type RequestStateOptions, textResult } from '@mrtr/core';
import { type Events, observe } from '@mrtr/core/events';
import { Deferred, settle } from '@mrtr/harness/internal';
import type { AuthorContext } from '@mrtr/matrix/outlines';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  countRuns,
  kelvin,
  metric,
  TestDeployment,
  tool,
  units,
} from '../../packages/shapes/src/fixture.test-support.ts';
import type { Shape } from './shape-contract.test-support.ts';

type Context = Required<AuthorContext>;

/** A tool that does `work`, asks for units, and then returns the value of the work. */
const working = (
  shape: Shape,
  work: (ctx: Context) => unknown,
  policy: RequestStateOptions = {},
  asks?: readonly InputKind[],
) => new TestDeployment(registering(shape, work, asks), policy);

function registering(shape: Shape, work: (ctx: Context) => unknown, asks?: readonly InputKind[]) {
  let value: unknown;
  const callback = shape.write({
    steps: [{ asks: { units } }],
    asks,
    above: async (ctx) => {
      value = await work(ctx as Context);
    },
    end: () => textResult(JSON.stringify(value) ?? 'undefined'),
    refused: cancelledResult,
  });
  return tool(callback as never);
}

/** Makes a call whose user answers at the second attempt. */
async function threeRounds(site: TestDeployment) {
  const client = await site.connect();
  const again = await client.answer(await client.send(), { units: kelvin });
  return client.answer(again, { units: metric });
}

/**
 * Adopts the contract of `ctx.once`.
 *
 * @param records whether later rounds read the value from state, instead of from a waiting handler.
 */
export function onceContract(shape: Shape, { records }: { readonly records: boolean }): void {
  describe(`ctx.once of ${shape.name}`, () => {
    test.each([
      [undefined],
      [null],
      [0],
      [''],
      [false],
      [[]],
      ['text'],
      [{ a: [1, { b: null }], c: { d: 'e' } }],
    ])('an effect runs once, and its value %j is the same in every round', async (value) => {
      const [reads, effect]: [unknown[], ReturnType<typeof countRuns>] = [[], countRuns(() => value)];
      const site = working(shape, async ({ once }) => void reads.push(await once('effect', effect)));
      expect(await threeRounds(site)).toEqual({ says: 'undefined' });
      expect(new Set(reads.map((read) => JSON.stringify(read)))).toEqual(new Set([JSON.stringify(value)]));
      expect(effect.runs).toBe(1);
    });

    test('a second effect with the same key is rejected, also after the first has failed', async () => {
      const second = countRuns(() => 2);
      for (const first of [() => 1, () => Promise.reject(new Error('No.'))]) {
        const site = working(shape, async ({ once }) => {
          await once<unknown>('key', first).catch(() => {});
          return once('key', second);
        });
        expect(await (await site.connect()).send()).toEqual({
          fails: expect.stringMatching(/^Two \w+s of one call have the key 'key'\. .*rename one\.$/),
        });
      }
      expect(second.runs).toBe(0);
    });

    test('any two different keys name two effects', async () => {
      const keys = ['__proto__', 'constructor', 'toString', '', 'a b', '0', 'now#1'];
      const runs: string[] = [];
      const site = working(shape, ({ once }) =>
        Promise.all(keys.map((key) => once(key, () => `${key} ${runs.push(key)}`))),
      );
      expect(await threeRounds(site)).toEqual({
        says: JSON.stringify(keys.map((key, at) => `${key} ${at + 1}`)),
      });
      expect(runs).toEqual(keys);
    });

    test('an effect with an option that does not exist, or has a wrong value, is rejected before it runs', async () => {
      const effect = countRuns(() => 1);
      for (const [options, fails] of [
        [{ schemas: {} }, "once: there is no option 'schemas'. Did you mean 'schema'?"],
        [{ schema: 5 }, 'once: schema must be a Standard Schema; it is 5.'],
      ] as const) {
        const site = working(shape, ({ once }) => once('a', effect, options as object));
        expect(await (await site.connect()).send()).toEqual({ fails });
      }
      expect(effect.runs).toBe(0);
    });

    test('a value that is not JSON is rejected with its path', async () => {
      const site = working(shape, ({ once }) => once('when', () => ({ at: new Date(0) })));
      expect(await (await site.connect()).send()).toEqual({
        fails:
          "The value of once('when') is kept between rounds and must be JSON; $.at is not. Convert it first.",
      });
    });

    test('a change of a value does not change the record', async () => {
      const site = working(shape, async ({ once }) => {
        const basket = await once('basket', () => ['apple']);
        basket.push('pear');
        return basket;
      });
      expect(await threeRounds(site)).toEqual({ says: '["apple","pear"]' });
    });

    test('an effect that nobody awaits ends before the question goes out, and so does the next one', async () => {
      const [started, finish, runs]: [Deferred, Deferred, string[]] = [new Deferred(), new Deferred(), []];
      const site = working(shape, ({ once }) => {
        void (async () => {
          await once('first', () => {
            started.open();
            return finish.promise.then(() => void runs.push('first'));
          });
          await once('second', () => settle(1).then(() => void runs.push('second')));
        })();
      });
      const client = await site.connect();
      let arrived = false;
      const asking = client.send().finally(() => {
        arrived = true;
      });
      await started.promise;
      await settle();
      expect(arrived).toBe(false);
      finish.open();
      expect(await client.answer(await asking, { units: metric })).toEqual({ says: 'undefined' });
      expect(runs).toEqual(['first', 'second']);
    });

    test('a failing effect that nobody awaits causes no unhandled rejection', async () => {
      const site = working(shape, ({ once }) => void once('print', () => Promise.reject(new Error('No.'))));
      expect(await threeRounds(site)).toEqual({ says: 'undefined' });
    });

    test('a call that ends after effects, because its client cannot be asked, tells `onerror` their keys', async () => {
      const told: Error[] = [];
      const work = async ({ once }: Context) => {
        await once('lock', () => 'a secret');
        await once('mail', () => Promise.reject(new Error('No.'))).catch(() => {});
      };
      const onerror = (error: Error) => void told.push(error);
      const site = working(shape, work, { onerror });
      expect(await (await site.connect(undefined, {})).send()).toHaveProperty('lacks');
      expect(await (await site.connectLegacy()).call()).toHaveProperty('fails');
      const message =
        'tools/call tool ended because its client cannot be asked, after these effects had run: ' +
        "'lock', 'mail'. Declare asks: ['elicitation'] where the handler is made: such a client is then rejected " +
        'before the handler is entered. [call ';
      expect(told).toEqual([expect.any(CannotAsk), expect.any(CannotAsk)]);
      expect(told.map((error) => error.message.slice(0, message.length))).toEqual([message, message]);
      // Without an effect, `onerror` gets nothing.
      await (await working(shape, () => {}, { onerror }).connect(undefined, {})).send();
      expect(told).toHaveLength(2);
    });

    test('a client that lacks one of the declared kinds is rejected with all that it lacks, before the handler', async () => {
      const above = countRuns(() => {});
      const site = working(shape, above, {}, ['elicitation', 'elicitation.url', 'sampling.tools', 'roots']);
      const lacks = { elicitation: { form: {}, url: {} }, sampling: { tools: {} } };
      const capabilities = { sampling: {}, roots: {} };
      expect(await (await site.connect(undefined, capabilities)).send()).toEqual({ lacks });
      expect(above.runs).toBe(0);
    });

    if (records)
      test('a recorded value is taken over by a schema, or nothing more runs', async () => {
        const site = working(shape, ({ once }) => once('ticket', () => 'ticket 1'));
        const client = await site.connect();
        const asked = await client.send();
        const Ticket = z.object({ id: z.string() });
        const opens = countRuns(() => ({ id: 'ticket 2' }));
        const next = countRuns(() => 'next');
        const taking = (schema: z.ZodType<{ id: string }>) =>
          site.deploy(
            registering(shape, async ({ once }) => {
              const ticket = await once('ticket', opens, { schema }).catch(() => 'swallowed');
              await once('next', next);
              return ticket;
            }),
          );
        taking(Ticket);
        const { rejects } = await client.answer(asked, { units: metric });
        expect(rejects).toMatch(/Invalid or expired requestState/);
        expect([opens.runs, next.runs]).toEqual([0, 0]);
        taking(z.union([Ticket, z.string().transform((id) => ({ id }))]) as never);
        expect(await client.answer(asked, { units: metric })).toEqual({ says: '{"id":"ticket 1"}' });
        expect([opens.runs, next.runs]).toEqual([0, 1]);
      });

    test('an observer sees that an effect ran, and in which call', async () => {
      const [calls, effects]: [string[], Events['mrtr:effect'][]] = [[], []];
      onTestFinished(observe('mrtr:handler', ({ call }) => calls.push(call)));
      onTestFinished(observe('mrtr:effect', (event) => effects.push(event)));
      await threeRounds(working(shape, ({ once }) => once('mail', () => 1)));
      const [ran, ...held] = effects;
      const effect = { call: calls[0], shape: shape.name, key: 'mail' };
      expect(ran).toEqual({ ...effect, phase: 'ran' });
      expect(held).toEqual(held.map(() => ({ ...effect, phase: 'skipped' })));
    });
  });
}
