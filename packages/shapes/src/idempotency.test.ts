/** `ctx.idempotencyKey`: the same wherever one call goes on, and another for every other call. */
import type { CompleteResult, SdkCallback } from '@mrtr/core';
import { textResult } from '@mrtr/core';
import { describe, expect, test } from 'vitest';
import {
  type Args,
  Args as ArgsSchema,
  ada,
  metric,
  Name,
  name,
  Site,
  tool,
  Units,
  units,
} from './fixture.test-support.ts';
import { journaled } from './journal.ts';
import { ContinuationStore, linear } from './linear.ts';
import { once } from './once.ts';
import { elicit, injected, outcome, resolver } from './resolve.ts';
import { ToolBuilder } from './tool-builder.ts';

/** Each shape asks twice, and says the keys it got where its effects stand. */
const shapes: Readonly<Record<string, (seen: string[]) => SdkCallback<Args, CompleteResult>>> = {
  once: (seen) =>
    once(async (_args, ctx) => {
      seen.push(ctx.idempotencyKey('pay'));
      if (ctx.answer('units', units).kind !== 'accepted') return ctx.ask({ units });
      if (ctx.answer('name', name).kind !== 'accepted') return ctx.ask({ name });
      return textResult('done');
    }),
  'tool-builder': (seen) =>
    new ToolBuilder<Args>()
      .incompleteStep('book', (_args, _data, step) => {
        seen.push(step.idempotencyKey('pay'));
        return {};
      })
      .incompleteStep('units', (_args, _data, step) => step.ask(units))
      .incompleteStep('name', (_args, _data, step) => step.ask(name))
      .endStep((_args, _data, step) => {
        seen.push(step.idempotencyKey('pay'));
        return textResult('done');
      })
      .build(),
  journal: (seen) =>
    journaled(async (_args, ctx) => {
      seen.push(ctx.idempotencyKey('pay'));
      await ctx.elicit('units', 'Which units?', Units);
      await ctx.elicit('name', 'Which name?', Name);
      return textResult('done');
    }),
};

describe.each(Object.entries(shapes))('%s', (_shape, make) => {
  test('a key is the same in every round, on every instance, and when a round is presented again', async () => {
    const seen: string[] = [];
    const site = new Site(tool(make(seen)));
    const client = await site.connect();
    const first = await client.send();
    site.deploy(tool(make(seen)));
    const second = await client.answer(first, { units: metric });
    await client.answer(second, { name: ada });
    await client.answer(second, { name: ada });
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen).size).toBe(1);
  });

  test('another call has another key', async () => {
    const seen: string[] = [];
    const client = await new Site(tool(make(seen))).connect();
    await client.send();
    await client.send();
    expect(new Set(seen).size).toBe(2);
  });
});

test('a key that is first asked for in a later round is the same when that round is presented again', async () => {
  const seen: string[] = [];
  const asks = resolver('units', {}, () => elicit('Which units?', Units));
  const late: Readonly<Record<string, SdkCallback<Args, CompleteResult>>> = {
    once: once((_args, ctx) => {
      if (ctx.answer('units', units).kind !== 'accepted') return ctx.ask({ units });
      seen.push(ctx.idempotencyKey('pay'));
      return textResult('done');
    }),
    resolve: injected(ArgsSchema, { units: outcome(asks) }, (_args, ctx) => {
      seen.push(ctx.idempotencyKey('pay'));
      return textResult('done');
    }) as SdkCallback<Args, CompleteResult>,
  };
  for (const callback of Object.values(late)) {
    const site = new Site(tool(callback));
    const client = await site.connect();
    const asked = await client.send();
    await client.answer(asked, { units: metric });
    site.deploy(tool(callback));
    await client.answer(asked, { units: metric });
    expect(new Set(seen.splice(0)).size).toBe(1);
  }
});

test('names have keys of their own, also in a parked handler', async () => {
  const keys: string[] = [];
  const store = new ContinuationStore();
  const site = new Site(
    tool(
      linear(
        async (_args: Args, ctx) => {
          keys.push(ctx.idempotencyKey('pay'), ctx.idempotencyKey('mail'));
          await ctx.elicit('Which units?', Units);
          keys.push(ctx.idempotencyKey('pay'));
          return textResult('done');
        },
        { store },
      ),
    ),
  );
  const client = await site.connect();
  await client.answer(await client.send(), { units: metric });
  const [pay, mail, again] = keys;
  expect(again).toBe(pay);
  expect(mail).not.toBe(pay);
});
