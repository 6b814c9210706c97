import { McpServer } from '@modelcontextprotocol/server';
import { elicitation, listRoots, observe, sampling, textResult } from '@mrtr/core';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  ada,
  type Caller,
  cancel,
  counted,
  decline,
  Gate,
  kelvin,
  metric,
  Name,
  type Outcome,
  Site,
  tool,
  turns,
  Units,
} from '../fixture.test-support.ts';
import { type JournalContext, journaled } from '../journal.ts';
import { once } from '../once.ts';
import { answerAll, connected, journaling } from './journaling.test-support.ts';

const UNITS = { units: 'Which units?' };
const NAME = { name: 'Which name?' };
const askUnits = (ctx: JournalContext) => ctx.elicit('units', 'Which units?', Units);
const askName = (ctx: JournalContext) => ctx.elicit('name', 'Which name?', Name);

// Replay

test('a settled step returns its record in every later round, and only what is new happens', async () => {
  const runs: string[] = [];
  const entries: unknown[][] = [];
  const client = await connected(async (ctx) => {
    const seen: unknown[] = [];
    entries.push(seen);
    seen.push(await ctx.run('first', () => runs.push('first')));
    seen.push(await askUnits(ctx));
    seen.push(await ctx.run('second', () => runs.push('second')));
    seen.push(await askName(ctx));
    return seen;
  });
  const first = await client.send();
  const second = await client.answer(first, { units: metric });
  const last = await client.answer(second, { name: ada });
  expect([first.asks, second.asks, last]).toEqual([
    UNITS,
    NAME,
    { says: '[1,{"units":"metric"},2,{"name":"Ada"}]' },
  ]);
  expect(entries).toEqual([[1], [1, { units: 'metric' }, 2], [1, { units: 'metric' }, 2, { name: 'Ada' }]]);
  expect(runs).toEqual(['first', 'second']);
});

test('an answer has the type of its schema, and an effect that of its value', async () => {
  const client = await connected(async (ctx) => {
    expectTypeOf(await askUnits(ctx)).toEqualTypeOf<{ units: 'metric' | 'imperial' }>();
    expectTypeOf(await ctx.run('n', () => 1)).toEqualTypeOf<number>();
    expectTypeOf(await ctx.run('s', async () => 's')).toEqualTypeOf<string>();
    expectTypeOf(await ctx.ask('q', elicitation('Which name?', Name))).toEqualTypeOf<{ name: string }>();
  });
  expect((await client.send()).asks).toEqual(UNITS);
});

test('servers that share only their keys go on with each other’s calls, and an effect happens once', async () => {
  const sent = counted((run) => `mail ${run}`);
  const handler = async (ctx: JournalContext) => [
    await ctx.run('mail', sent),
    await askUnits(ctx),
    await askName(ctx),
  ];
  const [one, two, three] = (await Promise.all(
    [1, 2, 3].map(() => new Site(journaling(handler)).connect()),
  )) as [Caller, Caller, Caller];
  const second = await two.answer(await one.send(), { units: metric });
  expect(await three.answer(second, { name: ada })).toEqual({
    says: '["mail 1",{"units":"metric"},{"name":"Ada"}]',
  });
  expect(sent.runs).toBe(1);
});

test('times, random numbers and UUIDs are real, and stay what they were in the first round', async () => {
  const entries: unknown[][] = [];
  const client = await connected(async (ctx) => {
    const values = [ctx.now(), ctx.random(), ctx.uuid(), ctx.uuid(), ctx.now('later'), ctx.uuid('order')];
    entries.push(values);
    await askUnits(ctx);
    values.push(ctx.random());
    await askName(ctx);
  });
  const before = Date.now();
  await answerAll(client, { units: metric }, { name: ada });
  const [first = [], second = [], third] = entries;
  const time = expect.toSatisfy((now: number) => now >= before && now <= Date.now());
  const uuid = expect.stringMatching(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/);
  const fraction = expect.toSatisfy((random: number) => random >= 0 && random < 1);
  expect(first).toEqual([time, fraction, uuid, uuid, time, uuid]);
  expect(new Set([first[2], first[3], first[5]]).size).toBe(3);
  expect(second).toEqual([...first, fraction]);
  expect(third).toEqual(second);
});

// Together

test('questions that are awaited together go out as one round', async () => {
  const client = await connected((ctx) => Promise.all([askUnits(ctx), askName(ctx)]));
  const asked = await client.send();
  expect(asked.asks).toEqual({ ...UNITS, ...NAME });
  expect(await client.answer(asked, { units: metric, name: ada })).toEqual({
    says: '[{"units":"metric"},{"name":"Ada"}]',
  });
});

test('of questions that went out together, only those without a good answer are asked again', async () => {
  const client = await connected((ctx) => Promise.all([askUnits(ctx), askName(ctx)]));
  const again = await client.answer(await client.send(), { units: kelvin, name: ada });
  expect(again.asks).toEqual(UNITS);
  const still = await client.answer(again, {});
  expect(still.asks).toEqual(UNITS);
  expect(await client.answer(still, { units: metric })).toEqual({
    says: '[{"units":"metric"},{"name":"Ada"}]',
  });
});

test('branches of different length share their rounds', async () => {
  const client = await connected((ctx) =>
    Promise.all([
      (async () => [await ctx.run('quick', () => 1), await askUnits(ctx), await askName(ctx)])(),
      (async () => {
        for (let step = 0; step < 12; step++) await ctx.run(`step ${step}`, () => turns(1));
        return ctx.elicit('last', 'Which last name?', Name);
      })(),
    ]),
  );
  const first = await client.send();
  expect(first.asks).toEqual({ ...UNITS, last: 'Which last name?' });
  const second = await client.answer(first, { units: metric, last: ada });
  expect(second.asks).toEqual(NAME);
  expect(await client.answer(second, { name: ada })).toEqual({
    says: '[[1,{"units":"metric"},{"name":"Ada"}],{"name":"Ada"}]',
  });
});

test('effects that are awaited together run at the same time', async () => {
  const [one, other] = [new Gate<string>(), new Gate<string>()];
  const started: string[] = [];
  const effect = (gate: Gate<string>, key: string) => () => {
    started.push(key);
    return gate.promise;
  };
  const client = await connected((ctx) =>
    Promise.all([ctx.run('one', effect(one, 'one')), ctx.run('other', effect(other, 'other'))]),
  );
  const call = client.send();
  await turns();
  expect(started).toEqual(['one', 'other']);
  other.open('second');
  one.open('first');
  expect(await call).toEqual({ says: '["first","second"]' });
});

test('an effect beside a question is journaled before the question goes out', async () => {
  const gate = new Gate<string>();
  const mail = counted(() => gate.promise);
  const client = await connected((ctx) => Promise.all([askUnits(ctx), ctx.run('mail', mail)]));
  let arrived = false;
  const asking = client.send().finally(() => {
    arrived = true;
  });
  await turns();
  expect([arrived, mail.runs]).toEqual([false, 1]);
  gate.open('sent');
  expect(await client.answer(await asking, { units: metric })).toEqual({
    says: '[{"units":"metric"},"sent"]',
  });
  expect(mail.runs).toBe(1);
});

test('effects that nobody awaits are journaled before the question goes out, and what follows them too', async () => {
  const runs: string[] = [];
  const client = await connected(async (ctx) => {
    void (async () => {
      for (const key of ['first', 'second', 'third'])
        await ctx.run(key, () => turns(1).then(() => runs.push(key)));
    })();
    return askUnits(ctx);
  });
  expect(await answerAll(client, { units: metric })).toEqual({ says: '{"units":"metric"}' });
  expect(runs).toEqual(['first', 'second', 'third']);
});

test('effects that a handler leaves behind when it returns still happen, for no later round does them', async () => {
  const runs: string[] = [];
  const client = await connected(async (ctx) => {
    void (async () => {
      for (const key of ['first', 'second']) await ctx.run(key, () => turns(1).then(() => runs.push(key)));
    })();
    return 'done';
  });
  expect(await client.send()).toEqual({ says: '"done"' });
  await turns();
  expect(runs).toEqual(['first', 'second']);
});

// What can be asked, and who

test('a handler asks the client’s model and for its roots as it asks the user', async () => {
  const site = new Site(
    journaling((ctx) =>
      Promise.all([
        ctx.ask('title', sampling({ messages: [], maxTokens: 9 })),
        ctx.ask('roots', listRoots()),
        ctx.ask('units', elicitation('Which units?', Units)),
      ]),
    ),
  );
  const client = await site.connect(undefined, { elicitation: {}, sampling: {}, roots: {} });
  const asked = await client.send();
  expect(asked.asks).toEqual({ title: 'sampling/createMessage', roots: 'roots/list', ...UNITS });
  const title = { role: 'assistant', content: { type: 'text', text: 'Storms' }, model: 'm' };
  const roots = { roots: [{ uri: 'file:///home' }] };
  const again = await client.answer(asked, { title, roots, units: kelvin });
  expect(again.asks).toEqual(UNITS);
  expect(await client.answer(again, { units: metric })).toEqual({
    says: JSON.stringify([title, roots, { units: 'metric' }]),
  });
});

test('a client that cannot be asked gets an error that says what to do, unless the handler tests first', async () => {
  const mute = (handler: (ctx: JournalContext) => unknown) =>
    new Site(journaling(handler)).connect(undefined, {});
  expect(await (await mute(askUnits)).send()).toEqual({
    fails: 'The client cannot be asked "Which units?". Test ctx.canAsk first.',
  });
  const careful = await mute(async (ctx) => (ctx.canAsk('elicitation') ? askUnits(ctx) : 'metric'));
  expect(await careful.send()).toEqual({ says: '"metric"' });
});

test('an old client is asked over its live connection, and effects happen once', async () => {
  const mail = counted((run) => run);
  const handler = async (ctx: JournalContext) => [
    await ctx.run('mail', mail),
    await askUnits(ctx),
    await askName(ctx),
  ];
  const user = (message: string) => (message === 'Which units?' ? metric : ada);
  const client = await new Site(journaling(handler)).connectLegacy(user);
  expect(await client.call()).toEqual({ says: '[1,{"units":"metric"},{"name":"Ada"}]' });
  expect([client.questions, mail.runs]).toEqual([['Which units?', 'Which name?'], 1]);

  const degraded = await new Site(journaling(handler), { legacy: 'degrade' }).connectLegacy(user);
  expect(await degraded.call()).toEqual({
    fails: 'The client cannot be asked "Which units?". Test ctx.canAsk first.',
  });
  expect(degraded.questions).toEqual([]);
});

test('a prompt and a resource ask as a tool does, and a refusal ends them with an error', async () => {
  const site = new Site((server) => {
    server.registerPrompt(
      'prompt',
      { argsSchema: z.object({}) },
      journaled(async (_args: unknown, ctx) => ({
        messages: [
          { role: 'user' as const, content: { type: 'text' as const, text: (await askUnits(ctx)).units } },
        ],
      })),
    );
    server.registerResource(
      'resource',
      'test://resource',
      {},
      journaled(async (uri: URL, ctx) => ({
        contents: [{ uri: uri.href, text: `${uri.protocol} ${(await askUnits(ctx)).units}` }],
      })),
    );
  });
  const client = await site.connect();
  for (const [get, says] of [
    [client.prompt.bind(client), 'metric'],
    [client.resource.bind(client), 'test: metric'],
  ] as const) {
    const asked: Outcome = await get();
    expect(asked.asks).toEqual(UNITS);
    expect(await get({ inputResponses: { units: metric }, requestState: asked.state })).toEqual({ says });
    expect(await get({ inputResponses: { units: cancel }, requestState: asked.state })).toEqual({
      rejects: 'Cancelled.',
    });
  }
});

test('a server that does not protect its state is told so, and nothing of the handler runs', async () => {
  const mail = counted(() => 1);
  const site = new Site(journaling((ctx) => ctx.run('mail', mail)));
  site.serve(() => {
    const server = new McpServer({ name: 'bare', version: '0.0.0' });
    journaling((ctx) => ctx.run('mail', mail))(server);
    return server;
  });
  expect(await (await site.connect()).send()).toEqual({
    fails: expect.stringContaining('Call protectRequestState(server, policy) on the new McpServer'),
  });
  expect(mail.runs).toBe(0);
});

test('state that another shape left is no progress', async () => {
  const mail = counted((run) => run);
  const site = new Site(
    tool(
      once(async (_args, ctx) => {
        await ctx.once('mail', mail);
        const units = elicitation('Which units?', Units);
        return ctx.answer('units', units).kind === 'accepted' ? textResult('no') : ctx.ask({ units });
      }),
    ),
  );
  const client = await site.connect();
  const asked = await client.send();
  site.deploy(journaling(async (ctx) => [await ctx.run('mail', mail), await askUnits(ctx)]));
  const again = await client.answer(asked, { units: metric });
  expect(again.asks).toEqual(UNITS);
  expect(await client.answer(again, { units: metric })).toEqual({ says: '[2,{"units":"metric"}]' });
});

test('an observer sees entries, questions, and which effects ran and which were held', async () => {
  const events: unknown[] = [];
  for (const name of ['mrtr:handler', 'mrtr:ask', 'mrtr:effect'] as const) {
    onTestFinished(observe(name, (event) => events.push(event)));
  }
  const client = await connected(async (ctx) => [await ctx.run('mail', () => 1), await askUnits(ctx)]);
  await answerAll(client, { units: decline });
  const entered = { shape: 'journal', target: 'tool' };
  expect(events).toEqual([
    entered,
    { shape: 'journal', key: 'mail', phase: 'ran' },
    { target: 'tool', keys: ['units'], live: false },
    entered,
    { shape: 'journal', key: 'mail', phase: 'held' },
  ]);
});
