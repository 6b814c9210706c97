import { McpServer } from '@modelcontextprotocol/server';
import { canAsk, isRefusal, observe, type ServerContext, type Settled, textResult } from '@mrtr/core';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  Args,
  ada,
  cancel,
  counted,
  decline,
  Gate,
  kelvin,
  metric,
  Name,
  Site,
  tool,
  turns,
  Units,
} from '../fixture.test-support.ts';
import {
  argument,
  elicit,
  type InjectedContext,
  injected,
  listRoots,
  outcome,
  requestContext,
  resolver,
  sample,
} from '../resolve.ts';

const UNITS = { units: 'Which units?' };
const units = resolver('units', {}, () => elicit('Which units?', Units));
const name = resolver('name', {}, () => elicit('Which name?', Name));
const json = (value: unknown) => textResult(JSON.stringify(value));
const GIVEN_UP = 'The call was given up; nothing was done.';

// What a consumer gets

test('a plain consumer gets the value, an outcome consumer all that happened, and types follow without casts', async () => {
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
      expectTypeOf(ctx).toEqualTypeOf<ServerContext>();
      return `${units.units} ${of.kind} ${third} ${at} ${canAsk(ctx, 'elicitation')}`;
    },
  );
  const perhaps = resolver('perhaps', {}, () =>
    Math.random() < 2 ? undefined : elicit('Which name?', Name),
  );
  const site = new Site(
    tool(
      injected(Args, { units, whole: outcome(units), label, perhaps }, (args, ctx) => {
        expectTypeOf(args.n).toEqualTypeOf<number | undefined>();
        expectTypeOf(args.units).toEqualTypeOf<{ units: 'metric' | 'imperial' }>();
        expectTypeOf(args.whole).toEqualTypeOf<Settled<{ units: 'metric' | 'imperial' }>>();
        expectTypeOf(args.label).toEqualTypeOf<string>();
        expectTypeOf(args.perhaps).toEqualTypeOf<{ name: string } | undefined>();
        expectTypeOf(ctx).toEqualTypeOf<InjectedContext>();
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
  ['declined', decline, `The user declined to answer. ${GIVEN_UP}`],
  ['dismissed', cancel, `The user dismissed the question. ${GIVEN_UP}`],
])(
  'a question that was %s ends the call of a plain consumer with an error, before its body',
  async (_how, response, fails) => {
    const body = counted(() => json('done'));
    const site = new Site(tool(injected(Args, { units, name: outcome(name) }, body)));
    const client = await site.connect();
    // Even if another one is still open.
    expect(await client.answer(await client.send(), { units: response })).toEqual({ fails });
    expect(body.runs).toBe(0);
  },
);

test.each([
  ['declined', decline],
  ['cancelled', cancel],
])('an outcome consumer is told that the question was %s', async (kind, response) => {
  const site = new Site(tool(injected(Args, { units: outcome(units) }, ({ units }) => json(units))));
  const client = await site.connect();
  expect(await client.answer(await client.send(), { units: response })).toEqual({
    says: `{"kind":"${kind}"}`,
  });
});

test('a resolver that cannot have what it needs is refused itself, and its consumer decides', async () => {
  const never = counted(() => 1);
  const label = resolver('label', { units }, never);
  const tolerant = resolver('tolerant', { units: outcome(units) }, ({ units }) => isRefusal(units));
  const site = new Site(tool(injected(Args, { label: outcome(label), tolerant }, (args) => json(args))));
  const client = await site.connect();
  expect(await client.answer(await client.send(), { units: decline })).toEqual({
    says: '{"label":{"kind":"declined"},"tolerant":true}',
  });
  const plain = await new Site(tool(injected(Args, { label }, json))).connect(() => decline);
  expect(await plain.call()).toEqual({ fails: `The user declined to answer. ${GIVEN_UP}` });
  expect(never.runs).toBe(0);
});

test.each([['before'], ['behind']])(
  'a refusal counts at once, whether it is declared %s what is open',
  async (where) => {
    const both = where === 'before' ? { name, units } : { units, name };
    const pair = resolver('pair', both, () => 'both');
    const site = new Site(tool(injected(Args, { pair: outcome(pair) }, ({ pair }) => json(pair))));
    const client = await site.connect();
    expect(await client.answer(await client.send(), { name: decline })).toEqual({
      says: '{"kind":"declined"}',
    });
  },
);

// Once, and together

test('a resolver runs once per entry, however many share it', async () => {
  const shared = counted(() => elicit('Which units?', Units));
  const base = resolver('base', {}, shared);
  const left = resolver('left', { base }, ({ base }) => base.units);
  const right = resolver('right', { base: outcome(base) }, ({ base }) => base.kind);
  const both = resolver('both', { left, right, base }, ({ left, right }) => `${left} ${right}`);
  const site = new Site(
    tool(injected(Args, { both, base, again: base, whole: outcome(base) }, ({ both }) => json(both))),
  );
  const client = await site.connect();
  const asked = await client.send();
  expect([asked.asks, shared.runs]).toEqual([{ base: 'Which units?' }, 1]);
  expect(await client.answer(asked, { base: metric })).toEqual({ says: '"metric accepted"' });
  expect(shared.runs).toBe(2);
});

test('resolvers run as soon as what they need is there, and none waits for another', async () => {
  const gates = { slow: new Gate<string>(), quick: new Gate<string>(), next: new Gate<string>() };
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
  const site = new Site(tool(injected(Args, { slow, last }, ({ last }) => json(last))));
  const call = (await site.connect()).send();
  const steps: string[][] = [];
  for (const open of [
    () => undefined,
    () => gates.quick.open('quick'),
    () => gates.next.open('next'),
    () => gates.slow.open('slow'),
  ]) {
    open();
    await turns();
    steps.push(started.splice(0));
  }
  expect(steps).toEqual([['slow', 'quick'], ['next'], [], ['last']]);
  expect(await call).toEqual({ says: '"slow next"' });
});

const questions = (count: number) =>
  Array.from({ length: count }, (_, at) => resolver(`q${at}`, {}, () => elicit(`Question ${at}?`, Name)));

test('independent questions go out in one round, in the order of their declaration', async () => {
  const gate = new Gate();
  const late = resolver('late', {}, async () => {
    await gate.promise;
    return elicit('Late?', Name);
  });
  const [q0, q1, q2, q3] = questions(4) as Required<ReturnType<typeof questions>>;
  const site = new Site(tool(injected(Args, { late, q0, q1, q2, q3 } as never, json)));
  const client = await site.connect();
  const asking = client.send();
  await turns();
  gate.open();
  const asked = await asking;
  expect(Object.keys(asked.asks ?? {})).toEqual(['late', 'q0', 'q1', 'q2', 'q3']);
  const answers = Object.fromEntries(['late', 'q0', 'q1', 'q2', 'q3'].map((key) => [key, ada]));
  expect(await client.answer(asked, answers)).toMatchObject({ says: expect.any(String) });
});

test('there are as many rounds as questions follow each other, whatever else is asked beside them', async () => {
  const first = resolver('first', {}, () => elicit('First?', Name));
  const second = resolver('second', { first }, ({ first }) => elicit(`Second, ${first.name}?`, Name));
  const value = resolver('value', { second }, ({ second }) => second.name.length);
  const third = resolver('third', { value, units }, ({ value }) => elicit(`Third ${value}?`, Name));
  const site = new Site(tool(injected(Args, { third, name, second }, ({ third }) => json(third))));
  const client = await site.connect();
  const asks: unknown[] = [];
  let seen = await client.send();
  for (const responses of [{ first: ada, units: metric, name: ada }, { second: ada }, { third: ada }]) {
    asks.push(seen.asks);
    seen = await client.answer(seen, responses);
  }
  expect(asks).toEqual([
    { first: 'First?', ...UNITS, name: 'Which name?' },
    { second: 'Second, Ada?' },
    { third: 'Third 3?' },
  ]);
  expect(seen).toEqual({ says: '{"name":"Ada"}' });
});

test('the body is entered once, in the round in which everything is there', async () => {
  const body = counted(() => json('done'));
  const site = new Site(tool(injected(Args, { units, name }, body)));
  const client = await site.connect();
  const again = await client.answer(await client.send(), { units: kelvin, name: ada });
  expect([again.asks, body.runs]).toEqual([UNITS, 0]);
  expect(await client.answer(again, { units: metric })).toEqual({ says: '"done"' });
  expect(body.runs).toBe(1);
});

// What can be asked, and who

test('a resolver may ask the client’s model and for its roots', async () => {
  const title = resolver('title', {}, () => sample({ messages: [], maxTokens: 9 }));
  const roots = resolver('roots', {}, () => listRoots());
  const site = new Site(
    tool(
      injected(Args, { title, roots, units }, ({ title, roots, units }) => {
        expectTypeOf(title.model).toEqualTypeOf<string>();
        expectTypeOf(roots.roots[0]?.uri).toEqualTypeOf<string | undefined>();
        return json([title.model, roots.roots, units]);
      }),
    ),
  );
  const client = await site.connect(undefined, { elicitation: {}, sampling: {}, roots: {} });
  const asked = await client.send();
  expect(asked.asks).toEqual({ title: 'sampling/createMessage', roots: 'roots/list', ...UNITS });
  const responses = {
    title: { role: 'assistant', content: { type: 'text', text: 'Storms' }, model: 'm' },
    roots: { roots: [{ uri: 'file:///home' }] },
  };
  const again = await client.answer(asked, { ...responses, units: kelvin });
  expect(again.asks).toEqual(UNITS);
  expect(await client.answer(again, { units: metric })).toEqual({
    says: '["m",[{"uri":"file:///home"}],{"units":"metric"}]',
  });
});

test('a client that cannot be asked gets an error that says which resolver asks, unless that tests first', async () => {
  const mute = (parameter: typeof units) =>
    new Site(tool(injected(Args, { units: parameter }, ({ units }) => json(units)))).connect(undefined, {});
  expect(await (await mute(units)).send()).toEqual({
    fails: 'The resolver \'units\' has to ask "Which units?", and this client cannot be asked.',
  });
  const careful = resolver('units', { ctx: requestContext() }, ({ ctx }) =>
    canAsk(ctx, 'elicitation') ? elicit('Which units?', Units) : { units: 'metric' as const },
  );
  expect(await (await mute(careful)).send()).toEqual({ says: '{"units":"metric"}' });
});

test('an old client is asked over its live connection', async () => {
  const greeting = resolver('greeting', { name }, ({ name }) => elicit(`How to greet ${name.name}?`, Name));
  const register = tool(injected(Args, { units, greeting }, (args) => json(args)));
  const user = (message: string) => (message === 'Which units?' ? metric : ada);
  const client = await new Site(register).connectLegacy(user);
  expect(await client.call()).toEqual({ says: '{"units":{"units":"metric"},"greeting":{"name":"Ada"}}' });
  expect(client.questions).toEqual(['Which units?', 'Which name?', 'How to greet Ada?']);
  const degraded = await new Site(register, { legacy: 'degrade' }).connectLegacy(user);
  expect(await degraded.call()).toEqual({ fails: expect.stringContaining('this client cannot be asked') });
});

test('a prompt asks as a tool does, and a refusal ends it with an error', async () => {
  const argsSchema = z.object({ topic: z.string().optional() });
  const site = new Site((server) => {
    server.registerPrompt(
      'prompt',
      { argsSchema },
      injected(argsSchema, { units }, ({ topic, units }) => ({
        messages: [
          { role: 'user' as const, content: { type: 'text' as const, text: `${topic} ${units.units}` } },
        ],
      })),
    );
  });
  const client = await site.connect();
  const asked = await client.prompt();
  expect(asked.asks).toEqual(UNITS);
  const answered = { inputResponses: { units: metric }, requestState: asked.state };
  expect(await client.prompt(answered)).toEqual({ says: 'undefined metric' });
  expect(await client.prompt({ ...answered, inputResponses: { units: decline } })).toEqual({
    rejects: `The user declined to answer. ${GIVEN_UP}`,
  });
});

test('a server that does not protect its state is told so, and no resolver runs', async () => {
  const asking = counted(() => elicit('Which units?', Units));
  const register = tool(injected(Args, { units: resolver('units', {}, asking) }, json));
  const site = new Site(register);
  site.serve(() => {
    const server = new McpServer({ name: 'bare', version: '0.0.0' });
    register(server);
    return server;
  });
  expect(await (await site.connect()).send()).toEqual({
    fails: expect.stringContaining('Call protectRequestState(server, policy) on the new McpServer'),
  });
  expect(asking.runs).toBe(0);
});

test('an observer sees each entry, and the questions that go out', async () => {
  const events: unknown[] = [];
  for (const channel of ['mrtr:handler', 'mrtr:ask'] as const) {
    onTestFinished(observe(channel, (event) => events.push(event)));
  }
  const site = new Site(tool(injected(Args, { units, name }, json)));
  await (await site.connect((message) => (message === 'Which name?' ? ada : metric))).call();
  const entered = { shape: 'resolve', target: 'tool' };
  expect(events).toEqual([entered, { target: 'tool', keys: ['units', 'name'], live: false }, entered]);
});

test('a resolver that throws ends the call with its error', async () => {
  const broken = resolver('broken', {}, () => {
    throw new Error('No forecast today.');
  });
  const client = await new Site(tool(injected(Args, { broken, units }, json))).connect();
  expect(await client.send()).toEqual({ fails: 'No forecast today.' });
});
