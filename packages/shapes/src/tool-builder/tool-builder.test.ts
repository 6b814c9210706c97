import type { CallToolResult } from '@modelcontextprotocol/server';
import { textResult } from '@mrtr/core';
import type { SdkCallback } from '@mrtr/core/shape';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  type Args,
  accept,
  ada,
  countRuns,
  kelvin,
  metric,
  name,
  TestDeployment,
  tool,
  units,
} from '../fixture.test-support.ts';
import { ToolBuilder } from './tool-builder.ts';

const grace = accept({ name: 'Grace' });
const says = (data: unknown) => textResult(JSON.stringify(data));
const builder = () => new ToolBuilder<Args>();
const user = (message: string) => (message === 'Which units?' ? metric : ada);

/** A tool that ends with the data of all of its steps. */
const saying = <D extends Readonly<Record<string, unknown>>>(steps: ToolBuilder<Args, D>) =>
  tool(steps.endStep((_args, data) => says(data)).build());

// Definition

test('a step that is no function is rejected where it is added', () => {
  expect(() => builder().incompleteStep('units', undefined as never)).toThrow(
    "incompleteStep 'units': step must be a function; it is undefined.",
  );
  expect(() => builder().endStep(undefined as never)).toThrow('endStep: step must be a function');
});

test('the data of each step joins the type of what later steps get, without a cast', () => {
  const built = builder()
    .incompleteStep('units', (args, data) => {
      expectTypeOf(args).toEqualTypeOf<Args>();
      expectTypeOf<keyof typeof data>().toBeNever();
      return units;
    })
    .incompleteStep('ticket', async (_args, data) => {
      expectTypeOf(data.units).toEqualTypeOf<{ units: 'metric' | 'imperial' }>();
      // @ts-expect-error a step cannot see its own data
      data.ticket;
      return { id: 7 as number };
    })
    .incompleteStep('both', async () => ({ first: name, second: units }))
    .incompleteStep('extra', (_args, { both }) => (both.first.name === 'Ada' ? name : undefined))
    .incompleteStep('fallback', (_args, _data, step) =>
      step.canAsk('elicitation') ? units : { units: 'metric' as const },
    )
    .incompleteStep('tags', () => ['a', 'b'])
    .endStep(async (args, data, ctx) => {
      expectTypeOf(args).toEqualTypeOf<Args>();
      expectTypeOf(data.ticket.id).toEqualTypeOf<number>();
      expectTypeOf(data.both.first).toEqualTypeOf<{ name: string }>();
      expectTypeOf(data.both.second.units).toEqualTypeOf<'metric' | 'imperial'>();
      expectTypeOf(data.extra).toEqualTypeOf<{ name: string } | undefined>();
      expectTypeOf(data.fallback.units).toEqualTypeOf<'metric' | 'imperial'>();
      expectTypeOf(data.tags).toEqualTypeOf<string[]>();
      // @ts-expect-error nothing can be asked in the end step
      ctx.ask;
      return textResult('done');
    })
    .build();
  expectTypeOf(built).toEqualTypeOf<SdkCallback<Args, CallToolResult>>();
});

test('a builder is never changed, so two tools may share their first steps', async () => {
  const shared = builder().incompleteStep('units', () => units);
  const longer = shared.incompleteStep('name', () => name);
  const [short, long] = [new TestDeployment(saying(shared)), new TestDeployment(saying(longer))];
  expect(await (await short.connect(user)).call()).toEqual({ says: '{"units":{"units":"metric"}}' });
  expect(await (await long.connect(user)).call()).toEqual({
    says: '{"units":{"units":"metric"},"name":{"name":"Ada"}}',
  });
});

// Running

test('data steps and the end step run once in a call, whether they are synchronous or not', async () => {
  const now = countRuns(() => 'now');
  const later = countRuns(async () => ({ late: true }));
  const nothing = countRuns(() => undefined);
  const end = countRuns(() => {});
  const site = new TestDeployment(
    tool(
      builder()
        .incompleteStep('now', now)
        .incompleteStep('units', () => units)
        .incompleteStep('later', later)
        .incompleteStep('nothing', nothing)
        .incompleteStep('name', async () => name)
        .endStep((args, data) => {
          end();
          return says({ args, data, has: 'nothing' in data });
        })
        .build(),
    ),
  );
  const client = await site.connect(user);
  const data = { now: 'now', units: { units: 'metric' }, later: { late: true }, name: { name: 'Ada' } };
  expect(await client.call({ n: 3 })).toEqual({ says: JSON.stringify({ args: { n: 3 }, data, has: true }) });
  expect([now.runs, later.runs, nothing.runs, end.runs]).toEqual([1, 1, 1, 1]);
});

test('a step may ask several questions, which are keyed by step and name', async () => {
  const steps = builder()
    .incompleteStep('a.b', () => ({ c: name }))
    .incompleteStep('a', () => ({ 'b.c': name, 'd\\e': units }));
  const client = await new TestDeployment(saying(steps)).connect();
  const first = await client.send();
  expect(first.asks).toEqual({ 'a\\.b.c': 'Which name?' });
  const second = await client.answer(first, { 'a\\.b.c': ada });
  expect(second.asks).toEqual({ 'a.b\\.c': 'Which name?', 'a.d\\\\e': 'Which units?' });
  expect(await client.answer(second, { 'a.b\\.c': grace, 'a.d\\\\e': metric })).toEqual({
    says: '{"a.b":{"c":{"name":"Ada"}},"a":{"b.c":{"name":"Grace"},"d\\\\e":{"units":"metric"}}}',
  });
});

test('a step’s changes to the data of another are not recorded', async () => {
  const steps = builder()
    .incompleteStep('basket', () => ['apple'] as string[])
    .incompleteStep('units', (_args, { basket }) => {
      basket.push('pear');
      return units;
    });
  const client = await new TestDeployment(saying(steps)).connect();
  const again = await client.answer(await client.send(), { units: kelvin });
  expect(await client.answer(again, { units: metric })).toEqual({
    says: '{"basket":["apple","pear"],"units":{"units":"metric"}}',
  });
});

test('a step named `__proto__` or `constructor` is a step like any other', async () => {
  const steps = builder()
    .incompleteStep('constructor', () => 'data')
    .incompleteStep('toString', () => units)
    .incompleteStep('__proto__', () => ['more']);
  expect(await (await new TestDeployment(saying(steps)).connect(user)).call()).toEqual({
    says: '{"constructor":"data","toString":{"units":"metric"},"__proto__":["more"]}',
  });
});

// Deploys between rounds

test('the state drops answers of a step that a deploy removed', async () => {
  const removed = builder().incompleteStep('removed', () => name);
  const site = new TestDeployment(saying(removed.incompleteStep('kept', () => units)));
  const client = await site.connect();
  const asked = await client.answer(await client.send(), { removed: ada });
  expect(asked.asks).toEqual({ kept: 'Which units?' });
  site.deploy(saying(builder().incompleteStep('kept', () => units)));
  const asksAgain = await client.answer(asked, {});
  expect(asksAgain.state).toHaveLength((await client.send()).state?.length ?? 0);
});

test('data that an earlier version computed is taken over by a schema, or rejected', async () => {
  const opening = <T>(ticket: () => T, schema?: z.ZodType<T>) =>
    saying(
      builder()
        .incompleteStep('ticket', ticket as () => unknown, { schema: schema as never })
        .incompleteStep('units', () => units),
    );
  const site = new TestDeployment(opening(() => 'ticket 1'));
  const client = await site.connect();
  const asked = await client.send();
  const Ticket = z.object({ id: z.string() });
  site.deploy(opening(() => ({ id: 'ticket 2' }), Ticket));
  expect((await client.answer(asked, { units: metric })).rejects).toMatch(/Invalid or expired requestState/);
  const migrating = z.union([Ticket, z.string().transform((id) => ({ id }))]);
  site.deploy(opening(() => ({ id: 'ticket 2' }), migrating as never));
  expect(await client.answer(asked, { units: metric })).toEqual({
    says: '{"ticket":{"id":"ticket 1"},"units":{"units":"metric"}}',
  });
});

test('a step that computes does not run for a client that cannot be asked, where `build` is told', async () => {
  const opened = countRuns(() => 'ticket');
  const steps = new ToolBuilder<Args>().incompleteStep('ticket', opened).incompleteStep('units', () => units);
  const callback = steps.endStep(() => textResult('done')).build({ asks: ['elicitation'] });
  const unaskable = await new TestDeployment(tool(callback)).connect(undefined, {});
  expect(await unaskable.send()).toEqual({ lacks: { elicitation: { form: {} } } });
  expect(opened.runs).toBe(0);
});
