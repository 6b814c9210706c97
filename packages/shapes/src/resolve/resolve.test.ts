import { elicitation, textResult } from '@mrtr/core';
import type { FinalAnswer } from '@mrtr/core/shape';
import { Deferred, settle } from '@mrtr/harness/internal';
import { expect, expectTypeOf, test } from 'vitest';
import {
  Args,
  cancel,
  countRuns,
  metric,
  Name,
  TestDeployment,
  tool,
  Units,
} from '../fixture.test-support.ts';
import type { HandlerContext } from '../index.ts';
import { argument, outcome, requestContext, resolve, resolver } from './index.ts';

const units = resolver('units', {}, () => elicitation('Which units?', Units));
const name = resolver('name', {}, () => elicitation('Which name?', Name));
const json = (value: unknown) => textResult(JSON.stringify(value));

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
      expectTypeOf(of).toEqualTypeOf<FinalAnswer<number>>();
      expectTypeOf(third).toEqualTypeOf<number>();
      expectTypeOf(at).toEqualTypeOf<number>();
      expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
      return `${units.units} ${of.kind} ${third} ${at} ${ctx.canAsk('elicitation')}`;
    },
  );
  const perhaps = resolver('perhaps', {}, () =>
    Math.random() < 2 ? undefined : elicitation('Which name?', Name),
  );
  const site = new TestDeployment(
    tool(
      resolve(Args, { units, whole: outcome(units), label, perhaps }, (args, ctx) => {
        expectTypeOf(args.n).toEqualTypeOf<number | undefined>();
        expectTypeOf(args.units).toEqualTypeOf<{ units: 'metric' | 'imperial' }>();
        expectTypeOf(args.whole).toEqualTypeOf<FinalAnswer<{ units: 'metric' | 'imperial' }>>();
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

test('a refused question ends the call of a plain consumer with an error, before its body', async () => {
  const body = countRuns(() => json('done'));
  const site = new TestDeployment(tool(resolve(Args, { units, name: outcome(name) }, body)));
  const client = await site.connect();
  // Also while another question is still open.
  expect(await client.answer(await client.send(), { units: cancel })).toEqual({
    fails: "Cancelled: the question 'units' was not answered.",
  });
  expect(body.runs).toBe(0);
});

// Once, and together

test('a resolver runs as soon as its needs are filled, and does not wait for unrelated ones', async () => {
  const gate = new Deferred<string>();
  const started: string[] = [];
  const note = (key: string) => {
    started.push(key);
    return key;
  };
  const slow = resolver('slow', {}, () => gate.promise.then(note));
  const quick = resolver('quick', {}, () => note('quick'));
  const next = resolver('next', { quick }, () => note('next'));
  const last = resolver('last', { slow, next }, ({ slow, next }) => note(`${slow} ${next}`));
  const call = (
    await new TestDeployment(tool(resolve(Args, { slow, last }, ({ last }) => json(last)))).connect()
  ).send();
  await settle();
  expect(started).toEqual(['quick', 'next']);
  gate.open('slow');
  expect(await call).toEqual({ says: '"slow next"' });
  expect(started).toEqual(['quick', 'next', 'slow', 'slow next']);
});

test('questions go out in the order of their declaration, not in that of their resolvers’ ends', async () => {
  const gate = new Deferred();
  const late = resolver('late', {}, () => gate.promise.then(() => elicitation('Late?', Name)));
  const asking = (
    await new TestDeployment(tool(resolve(Args, { late, units, name }, json))).connect()
  ).send();
  await settle();
  gate.open();
  expect(Object.keys((await asking).asks ?? {})).toEqual(['late', 'units', 'name']);
});
