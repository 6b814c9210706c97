import { elicitation, textResult } from '@mrtr/core';
import type { Settled } from '@mrtr/core/shape';
import { Deferred, settle } from '@mrtr/harness';
import { expect, expectTypeOf, test } from 'vitest';
import {
  Args,
  cancel,
  countRuns,
  decline,
  metric,
  Name,
  Site,
  tool,
  Units,
} from '../fixture.test-support.ts';
import { argument, type HandlerContext, outcome, requestContext, resolve, resolver } from './index.ts';

const units = resolver('units', {}, () => elicitation('Which units?', Units));
const name = resolver('name', {}, () => elicitation('Which name?', Name));
const json = (value: unknown) => textResult(JSON.stringify(value));
const ENDED = "Cancelled: the question 'units' was not answered.";

// What a consumer gets

test('a plain consumer gets the value, an outcome consumer the outcome, and types follow without casts', async () => {
  const n = resolver('n', { n: argument<number | undefined>() }, ({ n }) => {
    expectTypeOf(n).toEqualTypeOf<number | undefined>();
    return (n ?? 0) + 1;
  });
  const label = resolver(
    'label',
    { units, of: outcome(n), third: n, at: argument<number>('n'), ctx: requestContext() },
    async ({ units, of, third, at, ctx }) => {
      expectTypeOf(units).toEqualTypeOf<{ units: 'metric' | 'imperial' }>();
      expectTypeOf(of).toEqualTypeOf<Settled<number>>();
      expectTypeOf(third).toEqualTypeOf<number>();
      expectTypeOf(at).toEqualTypeOf<number>();
      expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
      return `${units.units} ${of.kind} ${third} ${at} ${ctx.canAsk('elicitation')}`;
    },
  );
  const perhaps = resolver('perhaps', {}, () =>
    Math.random() < 2 ? undefined : elicitation('Which name?', Name),
  );
  const site = new Site(
    tool(
      resolve(Args, { units, whole: outcome(units), label, perhaps }, (args, ctx) => {
        expectTypeOf(args.n).toEqualTypeOf<number | undefined>();
        expectTypeOf(args.units).toEqualTypeOf<{ units: 'metric' | 'imperial' }>();
        expectTypeOf(args.whole).toEqualTypeOf<Settled<{ units: 'metric' | 'imperial' }>>();
        expectTypeOf(args.label).toEqualTypeOf<string>();
        expectTypeOf(args.perhaps).toEqualTypeOf<{ name: string } | undefined>();
        expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
        // @ts-expect-error nothing else is there
        void args.other;
        return json(args);
      }),
    ),
  );
  const client = await site.connect(() => metric);
  expect(JSON.parse((await client.call({ n: 4 })).says ?? '')).toEqual({
    n: 4,
    units: { units: 'metric' },
    whole: { kind: 'accepted', value: { units: 'metric' } },
    label: 'metric accepted 5 4 true',
  });
});

test.each([
  ['declined', decline, ENDED],
  ['dismissed', cancel, ENDED],
])(
  'a question that was %s ends the call of a plain consumer with an error, before its body',
  async (_how, response, fails) => {
    const body = countRuns(() => json('done'));
    const site = new Site(tool(resolve(Args, { units, name: outcome(name) }, body)));
    const client = await site.connect();
    // Also while another question is still open.
    expect(await client.answer(await client.send(), { units: response })).toEqual({ fails });
    expect(body.runs).toBe(0);
  },
);

// Once, and together

test('a resolver runs as soon as its needs are filled, and does not wait for unrelated ones', async () => {
  const gates = { slow: new Deferred<string>(), quick: new Deferred<string>(), next: new Deferred<string>() };
  const started: string[] = [];
  const waiting = (key: keyof typeof gates) => () => {
    started.push(key);
    return gates[key].promise;
  };
  const slow = resolver('slow', {}, waiting('slow'));
  const quick = resolver('quick', {}, waiting('quick'));
  const next = resolver('next', { quick }, waiting('next'));
  const last = resolver('last', { slow, next }, ({ slow, next }) => {
    started.push('last');
    return `${slow} ${next}`;
  });
  const site = new Site(tool(resolve(Args, { slow, last }, ({ last }) => json(last))));
  const call = (await site.connect()).send();
  const steps: string[][] = [];
  for (const open of [
    () => undefined,
    () => gates.quick.open('quick'),
    () => gates.next.open('next'),
    () => gates.slow.open('slow'),
  ]) {
    open();
    await settle();
    steps.push(started.splice(0));
  }
  expect(steps).toEqual([['slow', 'quick'], ['next'], [], ['last']]);
  expect(await call).toEqual({ says: '"slow next"' });
});

test('questions go out in the order of their declaration, not in that of their resolvers’ ends', async () => {
  const gate = new Deferred();
  const late = resolver('late', {}, () => gate.promise.then(() => elicitation('Late?', Name)));
  const asking = (await new Site(tool(resolve(Args, { late, units, name }, json))).connect()).send();
  await settle();
  gate.open();
  expect(Object.keys((await asking).asks ?? {})).toEqual(['late', 'units', 'name']);
});
