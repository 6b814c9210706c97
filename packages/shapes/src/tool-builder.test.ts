import { McpServer } from '@modelcontextprotocol/server';
import {
  type CallToolResult,
  elicitation,
  InvalidDefinition,
  inputRequired,
  type SdkCallback,
  textResult,
} from '@mrtr/core';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  type Args,
  accept,
  ada,
  cancel,
  counted,
  decline,
  kelvin,
  metric,
  name,
  Site,
  tool,
  Units,
  units,
} from './fixture.test-support.ts';
import { ToolBuilder } from './tool-builder.ts';

const grace = accept({ name: 'Grace' });
const says = (data: unknown) => textResult(JSON.stringify(data));
const builder = () => new ToolBuilder<Args>();

// Definition

test('the data of each step joins the type of what later steps get, without a cast', () => {
  const built = builder()
    .incompleteStep('units', (args, data, step) => {
      expectTypeOf(args).toEqualTypeOf<Args>();
      expectTypeOf<keyof typeof data>().toBeNever();
      return step.ask(units);
    })
    .incompleteStep('ticket', async (_args, data) => {
      expectTypeOf(data.units).toEqualTypeOf<{ units: 'metric' | 'imperial' }>();
      // @ts-expect-error a step cannot see its own data
      data.ticket;
      return { id: 7 as number };
    })
    .incompleteStep('both', async (_args, _data, step) => step.ask({ first: name, second: units }))
    .incompleteStep('extra', (_args, { both }, step) =>
      both.first.name === 'Ada' ? step.ask(name) : undefined,
    )
    .incompleteStep('fallback', (_args, _data, step) =>
      step.canAsk('elicitation') ? step.ask(units) : { units: 'metric' },
    )
    .incompleteStep('tags', () => ['a', 'b'])
    .endStep(async (args, data, ctx) => {
      expectTypeOf(args).toEqualTypeOf<Args>();
      expectTypeOf(data.ticket.id).toEqualTypeOf<number>();
      expectTypeOf(data.both.first).toEqualTypeOf<{ name: string }>();
      expectTypeOf(data.both.second.units).toEqualTypeOf<'metric' | 'imperial'>();
      expectTypeOf(data.extra).toEqualTypeOf<{ name: string } | undefined>();
      expectTypeOf(data.fallback.units).toEqualTypeOf<'metric' | 'imperial'>();
      expectTypeOf(data.tags).toEqualTypeOf<readonly ['a', 'b']>();
      // @ts-expect-error nothing can be asked in the end step
      ctx.ask;
      return textResult('done');
    })
    .build();
  expectTypeOf(built).toEqualTypeOf<SdkCallback<Args, CallToolResult>>();
});

test('two steps of one name do not type-check, and are refused when the tool is built', () => {
  const first = builder().incompleteStep('units', (_args, _data, step) => step.ask(units));
  // @ts-expect-error the name is taken
  expect(() => first.incompleteStep('units', () => 1)).toThrow(
    new InvalidDefinition("There are two steps named 'units'. Data is kept by name: rename one of them."),
  );
});

test('a tool without an end step is refused when it is built', () => {
  expect(() =>
    builder()
      .incompleteStep('n', () => 1)
      .build(),
  ).toThrow(new InvalidDefinition('The tool has no endStep, so nothing would make its result. Add one.'));
});

test('a step or a second end step after the end step is refused', () => {
  const finished = builder().endStep(() => textResult('end')) as unknown as ToolBuilder<Args>;
  expect(() => finished.incompleteStep('late', () => 1)).toThrow(
    new InvalidDefinition("Step 'late' comes after endStep, where nothing would run it. Move it before."),
  );
  expect(() => finished.endStep(() => textResult('again'))).toThrow(
    new InvalidDefinition('There are two end steps. One of them would never run: remove it.'),
  );
});

test('a builder is never changed, so two tools may share their first steps', async () => {
  const shared = builder().incompleteStep('units', (_args, _data, step) => step.ask(units));
  const longer = shared.incompleteStep('name', (_args, _data, step) => step.ask(name));
  const short = new Site(tool(shared.endStep((_args, data) => says(data)).build()));
  const long = new Site(tool(longer.endStep((_args, data) => says(data)).build()));
  const user = (message: string) => (message === 'Which units?' ? metric : ada);
  expect(await (await short.connect(user)).call()).toEqual({ says: '{"units":{"units":"metric"}}' });
  expect(await (await long.connect(user)).call()).toEqual({
    says: '{"units":{"units":"metric"},"name":{"name":"Ada"}}',
  });
});

// Running

test('data steps and the end step run once in a call, whether they are synchronous or not', async () => {
  const now = counted(() => 'now');
  const later = counted(async () => ({ late: true }));
  const nothing = counted(() => undefined);
  const end = counted(() => {});
  const site = new Site(
    tool(
      builder()
        .incompleteStep('now', now)
        .incompleteStep('units', (_args, _data, step) => step.ask(units))
        .incompleteStep('later', later)
        .incompleteStep('nothing', nothing)
        .incompleteStep('name', async (_args, _data, step) => step.ask(name))
        .endStep((args, data) => {
          end();
          return says({ args, data, has: 'nothing' in data });
        })
        .build(),
    ),
  );
  const client = await site.connect((message) => (message === 'Which units?' ? metric : ada));
  const data = { now: 'now', units: { units: 'metric' }, later: { late: true }, name: { name: 'Ada' } };
  expect(await client.call({ n: 3 })).toEqual({ says: JSON.stringify({ args: { n: 3 }, data, has: true }) });
  expect([now.runs, later.runs, nothing.runs, end.runs]).toEqual([1, 1, 1, 1]);
});

test('a step may ask several questions in one round, and only what is open is asked again', async () => {
  const site = new Site(
    tool(
      builder()
        .incompleteStep('trip', (_args, _data, step) => step.ask({ who: name, how: units }))
        .endStep((_args, { trip }) => says(trip))
        .build(),
    ),
  );
  const client = await site.connect();
  const asked = await client.send();
  expect(asked.asks).toEqual({ 'trip.who': 'Which name?', 'trip.how': 'Which units?' });
  const again = await client.answer(asked, { 'trip.who': ada, 'trip.how': kelvin });
  expect(again.asks).toEqual({ 'trip.how': 'Which units?' });
  expect(await client.answer(again, { 'trip.how': metric })).toEqual({
    says: '{"who":{"name":"Ada"},"how":{"units":"metric"}}',
  });
});

test('two steps that use one question key get their own answers', async () => {
  const site = new Site(
    tool(
      builder()
        .incompleteStep('from', (_args, _data, step) => step.ask({ who: name }))
        .incompleteStep('to', (_args, _data, step) => step.ask({ who: name }))
        .endStep((_args, { from, to }) => says([from.who.name, to.who.name]))
        .build(),
    ),
  );
  const client = await site.connect();
  const second = await client.answer(await client.send(), { 'from.who': ada });
  expect(second.asks).toEqual({ 'to.who': 'Which name?' });
  expect(await client.answer(second, { 'to.who': grace })).toEqual({ says: '["Ada","Grace"]' });
});

test('an invalid or missing answer is asked again', async () => {
  const site = new Site(
    tool(
      builder()
        .incompleteStep('units', (_args, _data, step) => step.ask(units))
        .endStep((_args, data) => says(data.units))
        .build(),
    ),
  );
  const client = await site.connect();
  let asked = await client.send();
  for (const responses of [{ units: kelvin }, {}, { units: 7 }, { name: ada }]) {
    asked = await client.answer(asked, responses);
    expect(asked.asks).toEqual({ units: 'Which units?' });
  }
  expect(await client.answer(asked, { units: metric })).toEqual({ says: '{"units":"metric"}' });
});

test.each([
  ['declined', decline],
  ['cancelled', cancel],
])('a %s question ends the call before any later step', async (_how, refusal) => {
  const after = counted(() => 'after');
  const site = new Site(
    tool(
      builder()
        .incompleteStep('ask', (_args, _data, step) => step.ask({ units, name }))
        .incompleteStep('after', after)
        .endStep(() => textResult(`ended after ${after()}`))
        .build(),
    ),
  );
  const client = await site.connect();
  const asked = await client.send();
  expect(await client.answer(asked, { 'ask.units': refusal, 'ask.name': ada })).toEqual({
    says: 'Cancelled.',
  });
  expect(after.runs).toBe(0);
});

test('an answer to a question that was never asked is not consumed', async () => {
  const site = new Site(
    tool(
      builder()
        .incompleteStep('units', (_args, _data, step) => step.ask(units))
        .incompleteStep('name', (_args, _data, step) => step.ask(name))
        .endStep((_args, data) => says(data))
        .build(),
    ),
  );
  const client = await site.connect();
  const first = await client.send({ inputResponses: { units: metric, name: ada } });
  expect(first.asks).toEqual({ units: 'Which units?' });
  expect((await client.answer(first, { units: metric, name: ada })).asks).toEqual({ name: 'Which name?' });
});

test('a client that cannot be asked gets what the step falls back to', async () => {
  const site = new Site(
    tool(
      builder()
        .incompleteStep('units', (_args, _data, step) =>
          step.canAsk('elicitation') ? step.ask(units) : { units: 'imperial' },
        )
        .endStep((_args, data) => says(data.units))
        .build(),
    ),
  );
  expect(await (await site.connect(undefined, {})).call()).toEqual({ says: '{"units":"imperial"}' });
});

test('a step that throws is an error result, and runs again with what was recorded before', async () => {
  const draw = counted((run) => run);
  const check = counted((run) => {
    if (run === 1) throw new Error('Try again.');
    return 'checked';
  });
  const site = new Site(
    tool(
      builder()
        .incompleteStep('draw', draw)
        .incompleteStep('units', (_args, _data, step) => step.ask(units))
        .incompleteStep('check', check)
        .endStep((_args, data) => says(data))
        .build(),
    ),
  );
  const client = await site.connect();
  const asked = await client.send();
  expect(await client.answer(asked, { units: metric })).toEqual({ fails: 'Try again.' });
  expect(await client.answer(asked, { units: metric })).toEqual({
    says: '{"draw":1,"units":{"units":"metric"},"check":"checked"}',
  });
});

test('data that is not JSON is refused, with the step and the path', async () => {
  const site = new Site(
    tool(
      builder()
        .incompleteStep('cache', () => ({ by: { city: new Map() } }))
        .endStep(() => textResult('end'))
        .build(),
    ),
  );
  expect(await (await site.connect()).send()).toEqual({
    fails:
      "The data of step 'cache' is kept between rounds and must be JSON; $.by.city is not. Convert it first.",
  });
});

test('what a step does to the data of another is not recorded', async () => {
  const site = new Site(
    tool(
      builder()
        .incompleteStep('basket', () => ({ items: ['apple'] as string[] }))
        .incompleteStep('units', (_args, { basket }, step) => {
          basket.items.push('pear');
          return step.ask(units);
        })
        .endStep((_args, { basket }) => says(basket.items))
        .build(),
    ),
  );
  const client = await site.connect();
  const again = await client.answer(await client.send(), { units: kelvin });
  expect(await client.answer(again, { units: metric })).toEqual({ says: '["apple","pear"]' });
});

test('a step named `__proto__` or `constructor` is a step like any other', async () => {
  const site = new Site(
    tool(
      builder()
        .incompleteStep('constructor', () => 'data')
        .incompleteStep('toString', (_args, _data, step) => step.ask(units))
        .incompleteStep('__proto__', () => ['more'])
        .endStep((_args, data) => says(Object.entries(data)))
        .build(),
    ),
  );
  expect(await (await site.connect(() => metric)).call()).toEqual({
    says: '[["constructor","data"],["toString",{"units":"metric"}],["__proto__",["more"]]]',
  });
});

test('the end step is out of reach while a question is open, whatever its step is named', async () => {
  const end = counted(() => {});
  const site = new Site(
    tool(
      builder()
        .incompleteStep('__proto__', (_args, _data, step) => step.ask(units))
        .endStep(() => {
          end();
          return textResult('end');
        })
        .build(),
    ),
  );
  // The SDK's own parsers drop a key of this name, so it can never be answered over HTTP.
  expect(await (await site.connect(() => metric)).call()).not.toMatchObject({ says: 'end' });
  expect(end.runs).toBe(0);
});

// Deploys between rounds

const person = (...steps: readonly ('first' | 'second' | 'initial')[]) => {
  let built = builder() as ToolBuilder<Args, Record<string, unknown>>;
  for (const step of steps) built = built.incompleteStep(step as never, (_args, _data, ctx) => ctx.ask(name));
  return tool(built.endStep((_args, data) => says(data)).build());
};

test('steps that are reordered while a call is under way keep their data, though their questions are alike', async () => {
  const site = new Site(person('first', 'second'));
  const client = await site.connect();
  const asked = await client.answer(await client.send(), { first: ada });
  expect(asked.asks).toEqual({ second: 'Which name?' });
  site.deploy(person('second', 'first'));
  expect(await client.answer(asked, { second: grace })).toEqual({
    says: '{"second":{"name":"Grace"},"first":{"name":"Ada"}}',
  });
});

test('keys of several questions stay with their step as well when steps are reordered', async () => {
  const sure = (...steps: readonly string[]) => {
    let built = builder() as ToolBuilder<Args, Record<string, unknown>>;
    for (const step of steps)
      built = built.incompleteStep(step as never, (_args, _data, ctx) => ctx.ask({ who: name }));
    return tool(built.endStep((_args, data) => says(data)).build());
  };
  const site = new Site(sure('keep', 'drop'));
  const client = await site.connect();
  const asked = await client.answer(await client.send(), { 'keep.who': ada });
  site.deploy(sure('drop', 'keep'));
  expect(await client.answer(asked, { 'drop.who': grace })).toEqual({
    says: '{"drop":{"who":{"name":"Grace"}},"keep":{"who":{"name":"Ada"}}}',
  });
});

test('a step that is renamed while a call is under way asks again', async () => {
  const site = new Site(person('first', 'second'));
  const client = await site.connect();
  const asked = await client.answer(await client.send(), { first: ada });
  site.deploy(person('initial', 'second'));
  const renamed = await client.answer(asked, { second: grace });
  expect(renamed.asks).toEqual({ initial: 'Which name?' });
  expect(await client.answer(renamed, { initial: ada })).toEqual({
    says: '{"initial":{"name":"Ada"},"second":{"name":"Grace"}}',
  });
});

test('a question that is reworded is asked again, and recorded data stays', async () => {
  const draw = counted((run) => run);
  const version = (message: string) =>
    tool(
      builder()
        .incompleteStep('draw', draw)
        .incompleteStep('units', (_args, _data, step) => step.ask(elicitation(message, Units)))
        .endStep((_args, data) => says(data))
        .build(),
    );
  const site = new Site(version('Which units?'));
  const client = await site.connect();
  const asked = await client.send();
  site.deploy(version('Celsius or Fahrenheit?'));
  const again = await client.answer(asked, { units: metric });
  expect(again.asks).toEqual({ units: 'Celsius or Fahrenheit?' });
  expect(await client.answer(again, { units: metric })).toEqual({
    says: '{"draw":1,"units":{"units":"metric"}}',
  });
});

test('state of another shape or version is no progress', async () => {
  const state = JSON.stringify({ s: 'tool-builder/0', d: { draw: ['forged'] } });
  const site = new Site(tool(async () => inputRequired({ requestState: state })));
  const client = await site.connect();
  const asked = await client.send();
  site.deploy(
    tool(
      builder()
        .incompleteStep('draw', () => 'drawn')
        .endStep((_args, data) => says(data))
        .build(),
    ),
  );
  expect(await client.answer(asked, {})).toEqual({ says: '{"draw":"drawn"}' });
});

// Servers and methods

test('a server that does not protect its request state is refused before a step runs', async () => {
  const draw = counted((run) => run);
  const site = new Site(() => {});
  site.serve(() => {
    const server = new McpServer({ name: 'bare', version: '0' });
    tool(
      builder()
        .incompleteStep('draw', draw)
        .endStep(() => textResult('end'))
        .build(),
    )(server);
    return server;
  });
  expect(await (await site.connect()).send()).toEqual({
    fails: expect.stringContaining('on a server that does not protect it'),
  });
  expect(draw.runs).toBe(0);
});

test('an old client is asked by the SDK, step by step', async () => {
  const draw = counted((run) => run);
  const site = new Site(
    tool(
      builder()
        .incompleteStep('draw', draw)
        .incompleteStep('units', (_args, _data, step) => step.ask(units))
        .incompleteStep('name', (_args, _data, step) => step.ask(name))
        .endStep((_args, data) => says(data))
        .build(),
    ),
  );
  const client = await site.connectLegacy((message) => (message === 'Which units?' ? metric : ada));
  expect(await client.call()).toEqual({
    says: '{"draw":1,"units":{"units":"metric"},"name":{"name":"Ada"}}',
  });
  expect(client.questions).toEqual(['Which units?', 'Which name?']);
});

test('a prompt and a resource can be built as well; there, a declined question is a JSON-RPC error', async () => {
  const site = new Site((server) => {
    server.registerPrompt(
      'prompt',
      { argsSchema: z.object({}) },
      new ToolBuilder<object>()
        .incompleteStep('name', (_args, _data, step) => step.ask(name))
        .endStep((_args, data) => ({
          messages: [{ role: 'user', content: { type: 'text', text: data.name.name } }],
        }))
        .build(),
    );
    server.registerResource(
      'resource',
      'test://resource',
      {},
      new ToolBuilder<URL>()
        .incompleteStep('name', (_uri, _data, step) => step.ask(name))
        .endStep((uri, data) => ({ contents: [{ uri: uri.href, text: data.name.name }] }))
        .build(),
    );
  });
  const client = await site.connect();
  const [prompt, resource] = [await client.prompt(), await client.resource()];
  expect([prompt.asks, resource.asks]).toEqual([{ name: 'Which name?' }, { name: 'Which name?' }]);
  const round = (state: string | undefined, response: object) => ({
    inputResponses: { name: response },
    requestState: state,
  });
  expect(await client.prompt(round(prompt.state, ada))).toEqual({ says: 'Ada' });
  expect(await client.resource(round(resource.state, ada))).toEqual({ says: 'Ada' });
  expect(await client.prompt(round(prompt.state, decline))).toEqual({ rejects: 'Cancelled.' });
  expect(await client.resource(round(resource.state, cancel))).toEqual({ rejects: 'Cancelled.' });
});
