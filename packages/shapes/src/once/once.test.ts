import { inputRequired } from '@modelcontextprotocol/server';
import { ask, elicitation, type Questions, textResult } from '@mrtr/core';
import { isSettled } from '@mrtr/core/shape';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  accept,
  ada,
  cancel,
  countRuns,
  decline,
  kelvin,
  metric,
  name,
  Site,
  tool,
  Units,
  units,
} from '../fixture.test-support.ts';
import { type OnceContext, once } from './once.ts';

const UNITS = { units: 'Which units?' };

/** A tool that does `work` above its guard, asks for units until they are given, and then returns them. */
const working = (work: (ctx: OnceContext) => unknown) =>
  tool(
    once(async (_args, ctx) => {
      const read = await work(ctx);
      if (!isSettled(ctx.answer('units', units))) return ask({ units });
      return textResult(JSON.stringify(read) ?? 'undefined');
    }),
  );

/** A tool that asks `questions` one at a time. */
const interview = (questions: Questions) =>
  tool(
    once((_args, ctx) => {
      const kinds: string[] = [];
      for (const [key, question] of Object.entries(questions)) {
        const answer = ctx.answer(key, question);
        if (!isSettled(answer)) return ask({ [key]: question });
        kinds.push(answer.kind);
      }
      return textResult(kinds.join());
    }),
  );

// Effects

const FAILURES: [how: string, fail: () => Promise<never>][] = [
  [
    'at once',
    () => {
      throw new Error('Out of paper.');
    },
  ],
  ['as a promise', () => Promise.reject(new Error('Out of paper.'))],
];

test.each(FAILURES)(
  'an effect that throws %s is not recorded: it runs again in the next round',
  async (_how, fail) => {
    const print = countRuns((run) => (run === 1 ? fail() : 'printed'));
    const site = new Site(working((ctx) => ctx.once('print', print).catch((error: Error) => error.message)));
    const client = await site.connect();
    const asked = await client.send();
    expect(print.runs).toBe(1);
    const again = await client.answer(asked, { units: kelvin });
    expect(await client.answer(again, { units: metric })).toEqual({ says: '"printed"' });
    expect(print.runs).toBe(2);
  },
);

test('a round that is sent twice runs its new effects twice', async () => {
  const runs: string[] = [];
  const site = new Site(
    working(async (ctx) => {
      await ctx.once('above', () => void runs.push('above'));
      if (isSettled(ctx.answer('units', units))) await ctx.once('below', () => void runs.push('below'));
    }),
  );
  const client = await site.connect();
  const asked = await client.send();
  await client.answer(asked, { units: metric });
  await client.answer(asked, { units: metric });
  expect(runs).toEqual(['above', 'below', 'below']);
});

// Answers

test('accepted and declined answers are remembered in later rounds', async () => {
  const late = elicitation('Anything else?', z.object({ more: z.string() }));
  const tip = elicitation('A tip?', z.object({ percent: z.number() }));
  const site = new Site(interview({ units, name, tip, late }));
  const client = await site.connect();
  let seen = await client.send();
  for (const response of [{ units: metric }, { name: decline }, { tip: cancel }]) {
    seen = await client.answer(seen, response);
  }
  expect(seen.asks).toEqual({ late: 'Anything else?' });
  const says = 'accepted,declined,cancelled,accepted';
  expect(await client.answer(seen, { late: accept({ more: 'no' }) })).toEqual({ says });
});

test('when the author asks again, the old answer no longer counts and the new one does', async () => {
  let first = true;
  const site = new Site(
    tool(
      once((_args, ctx) => {
        const answer = ctx.answer('name', name);
        if (answer.kind === 'accepted' && !first) return textResult(answer.value.name);
        first &&= answer.kind !== 'accepted';
        return ask({ name });
      }),
    ),
  );
  const client = await site.connect();
  const again = await client.answer(await client.send(), { name: accept({ name: 'Taken' }) });
  const silent = await client.answer(again, {});
  expect(silent.asks).toEqual({ name: 'Which name?' });
  expect(await client.answer(silent, { name: ada })).toEqual({ says: 'Ada' });
});

test('the state holds the effects and the pruned answers, and nothing else', async () => {
  const states: (string | undefined)[] = [];
  const site = new Site(
    tool(
      once(async (_args, ctx) => {
        states.push(ctx.request.mcpReq.requestState<string>());
        await ctx.once('nothing', () => undefined);
        for (const [key, question] of Object.entries({ units, name, more: name })) {
          if (!isSettled(ctx.answer(key, question))) return ask({ [key]: question });
        }
        return textResult('done');
      }),
    ),
  );
  const client = await site.connect();
  const second = await client.answer(await client.send(), { units: { ...metric, _meta: { 'x/y': 1 } } });
  const third = await client.answer(second, { name: { ...decline, content: { name: 'Eve' } } });
  await client.answer(third, { more: cancel });
  const [s, e, a] = ['once/2', { nothing: [] }, { units: [units.digest, metric] }];
  const states3 = [
    { s, e },
    { s, a, e },
    { s, a: { ...a, name: [name.digest, decline] }, e },
  ];
  expect(states.map((state) => JSON.parse(state ?? 'null'))).toEqual([null, ...states3]);
});

test('the state does not carry an answer that does not fit', async () => {
  const states: (string | undefined)[] = [];
  const site = new Site(
    tool(
      once((_args, ctx) => {
        states.push(ctx.request.mcpReq.requestState<string>());
        if (ctx.answer('units', units).kind === 'invalid') return ask({ name });
        return ask({ units });
      }),
    ),
  );
  const client = await site.connect();
  const second = await client.answer(await client.send(), { units: kelvin });
  expect((await client.answer(second, { name: ada })).asks).toEqual(UNITS);
  expect(JSON.parse(states[2] ?? '')).toEqual({ s: 'once/2' });
});

test('a handler may return inputRequired(...) instead of ctx.ask', async () => {
  const effect = countRuns(() => 'done');
  const site = new Site(
    tool(
      once(async (_args, ctx) => {
        await ctx.once('effect', effect);
        const answer = ctx.answer('units', units);
        if (answer.kind === 'accepted') return textResult(answer.value.units);
        const requestedSchema = Units;
        return inputRequired({
          inputRequests: { units: inputRequired.elicit({ message: 'Which units?', requestedSchema }) },
        });
      }),
    ),
  );
  expect(await (await site.connect(() => metric)).call()).toEqual({ says: 'metric' });
  expect(effect.runs).toBe(1);
});

test('a handler that returns its own state is refused', async () => {
  const site = new Site(tool(once(() => inputRequired({ requestState: 'mine' }))));
  expect(await (await site.connect()).send()).toEqual({
    fails: 'A once handler cannot return its own requestState: keep the value with ctx.once.',
  });
});

test('a value that an earlier version recorded is taken over by a schema, or the request is refused', async () => {
  const site = new Site(working((ctx) => ctx.once('ticket', () => 'ticket 1')));
  const client = await site.connect();
  const asked = await client.send();
  const Ticket = z.object({ id: z.string() });
  const open = countRuns(() => ({ id: 'ticket 2' }));
  site.deploy(working((ctx) => ctx.once('ticket', open, { schema: Ticket }).catch(() => 'swallowed')));
  expect((await client.answer(asked, { units: metric })).rejects).toMatch(/Invalid or expired requestState/);
  const either = z.union([Ticket, z.string().transform((id) => ({ id }))]);
  site.deploy(working((ctx) => ctx.once('ticket', open, { schema: either as z.ZodType<{ id: string }> })));
  expect(await client.answer(asked, { units: metric })).toEqual({ says: '{"id":"ticket 1"}' });
  expect(open.runs).toBe(0);
});

test('an effect that a deploy renamed does not happen again: the request is refused', async () => {
  const site = new Site(working((ctx) => ctx.once('ticket', () => 1)));
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
  const site = new Site(working((ctx) => ctx.once('ticket', () => 1)));
  const client = await site.connect();
  const asked = await client.send();
  const behind = async (ctx: OnceContext) => [
    await ctx.once('ticket', () => 2),
    await ctx.once('new', () => 3),
  ];
  const ledTo = async (ctx: OnceContext) =>
    isSettled(ctx.answer('units', units))
      ? await ctx.once('new', () => 3)
      : await ctx.once('ticket', () => 2);
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
  const site = new Site(
    working(async (ctx) => [
      await ctx.once('flaky', flaky).catch(() => 'failed'),
      await ctx.once('ticket', () => 'T1'),
    ]),
  );
  const client = await site.connect();
  const asked = await client.send();
  expect(await client.answer(asked, { units: metric })).toEqual({ says: '[2,"T1"]' });
});
