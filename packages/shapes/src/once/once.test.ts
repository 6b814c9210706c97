import { inputRequired } from '@modelcontextprotocol/server';
import { approval, ask, textResult, words } from '@mrtr/core';
import { isFinal } from '@mrtr/core/shape';
import { expect, test } from 'vitest';
import { countRuns, metric, TestDeployment, tool, units } from '../fixture.test-support.ts';
import { type OnceContext, once } from './once.ts';

/** A tool that does `work` above its guard, asks for units until they are given, and then returns them. */
const working = (work: (ctx: OnceContext) => unknown) =>
  tool(
    once(async (_args, ctx) => {
      const read = await work(ctx);
      if (!isFinal(ctx.answer('units', units))) return ask({ units });
      return textResult(JSON.stringify(read) ?? 'undefined');
    }),
  );

test('a handler that returns its own state is rejected', async () => {
  const site = new TestDeployment(tool(once(() => inputRequired({ requestState: 'mine' }))));
  expect(await (await site.connect()).send()).toEqual({
    fails: 'A once handler cannot return its own requestState: keep the value with ctx.once.',
  });
});

test('an effect that a deploy renamed does not happen again: the request is rejected', async () => {
  const site = new TestDeployment(working((ctx) => ctx.once('ticket', () => 1)));
  const client = await site.connect();
  const asked = await client.send();
  const [slip, other] = [countRuns(() => 2), countRuns(() => 3)];
  site.deploy(
    working(async (ctx) => {
      await ctx.once('slip', slip).catch(() => {});
      await ctx.once('other', other);
    }),
  );
  expect((await client.answer(asked, { units: metric })).rejects).toMatch(/Invalid or expired requestState/);
  expect([slip.runs, other.runs]).toEqual([0, 0]);
});

test('a new effect is one where it comes behind those that have run, or where an answer led to it', async () => {
  const site = new TestDeployment(working((ctx) => ctx.once('ticket', () => 1)));
  const client = await site.connect();
  const asked = await client.send();
  const behind = async (ctx: OnceContext) => [
    await ctx.once('ticket', () => 2),
    await ctx.once('new', () => 3),
  ];
  const ledTo = async (ctx: OnceContext) =>
    isFinal(ctx.answer('units', units)) ? await ctx.once('new', () => 3) : await ctx.once('ticket', () => 2);
  for (const [work, says] of [
    [behind, '[1,3]'],
    [ledTo, '3'],
  ] as const) {
    site.deploy(working(work));
    expect(await client.answer(asked, { units: metric })).toEqual({ says });
  }
});

test('an effect that failed and was caught is tried again before those that have run are reached', async () => {
  const flaky = countRuns((run) => {
    if (run === 1) throw new Error('Not now.');
    return run;
  });
  const site = new TestDeployment(
    working(async (ctx) => [
      await ctx.once('flaky', flaky).catch(() => 'failed'),
      await ctx.once('ticket', () => 'T1'),
    ]),
  );
  const client = await site.connect();
  const asked = await client.send();
  expect(await client.answer(asked, { units: metric })).toEqual({ says: '[2,"T1"]' });
});

test('an approval that no round has read yet keeps its receipt in the state', async () => {
  const sure = approval(words`Pay ${'Ada'}?`, { approve: 'Pay', refuse: 'Do not pay' });
  const pay = once(async (_args, ctx) => {
    if (!isFinal(ctx.answer('units', units)))
      return ask(ctx.request.mcpReq.inputResponses ? { units } : { units, sure });
    const paid = ctx.answer('sure', sure);
    return textResult(paid.kind === 'accepted' ? paid.value.receipt.tool : paid.kind);
  });
  const client = await new TestDeployment(tool(pay)).connect();
  const yes = { action: 'accept', content: { decision: 'approve' } } as const;
  const again = await client.answer(await client.send(), { sure: yes, units: { action: 'accept' } });
  expect(again.asks).toHaveProperty('units');
  expect(again.asks).not.toHaveProperty('sure');
  expect(await client.answer(again, { units: metric })).toEqual({ says: 'tool' });
});
