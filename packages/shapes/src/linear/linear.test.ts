import { McpServer } from '@modelcontextprotocol/server';
import {
  CannotAsk,
  ElicitationDeclined,
  elicitation,
  errorResult,
  inputRequired,
  listRoots,
  textResult,
} from '@mrtr/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  accept,
  ada,
  cancel,
  counted,
  decline,
  kelvin,
  metric,
  Name,
  name,
  Site,
  tool,
  Units,
  units,
} from '../fixture.test-support.ts';
import { ContinuationStore, linear } from '../linear.ts';
import { parking } from './parking.test-support.ts';

const UNITS = { units: 'Which units?' };
const NAME = { name: 'Which name?' };
const grace = accept({ name: 'Grace' });
const user = (message: string) => (message === 'Which units?' ? metric : ada);

test('the handler runs once, front to back, and what it holds need not be JSON', async () => {
  const steps: string[] = [];
  const { site } = parking(async ({ n }, ctx) => {
    const held = new Map([[Symbol('s'), () => n]]);
    steps.push('start');
    const answer = await ctx.elicit('Which units?', Units);
    steps.push(answer.units);
    const { name } = await ctx.elicit('Which name?', Name);
    steps.push(name);
    return textResult(String([...held.values()].map((fn) => fn())));
  });
  expect(await (await site.connect(user)).call({ n: 4 })).toEqual({ says: '4' });
  expect(steps).toEqual(['start', 'metric', 'Ada']);
});

test('elicit returns what the schema makes of the answer', async () => {
  const Form = z.object({ count: z.number().default(3) });
  const { site } = parking(async (_args, ctx) =>
    textResult(JSON.stringify(await ctx.elicit('How many?', Form))),
  );
  expect(await (await site.connect(() => accept({ extra: 'field' }))).call()).toEqual({
    says: '{"count":3}',
  });
});

test.each([
  ['declined', decline, 'decline'],
  ['cancelled', cancel, 'cancel'],
] as const)(
  'a %s question throws with the action, and the handler may go on',
  async (_how, refusal, action) => {
    const { site, store } = parking(async (_args, ctx) => {
      const error: unknown = await ctx.elicit('Which units?', Units).catch((error) => error);
      expect(error).toEqual(new ElicitationDeclined(action));
      const { name } = await ctx.elicit('Which name?', Name);
      return textResult(`${(error as ElicitationDeclined).action}, ${name}`);
    });
    const client = await site.connect((message) => (message === 'Which units?' ? refusal : ada));
    expect(await client.call()).toEqual({ says: `${action}, Ada` });
    expect(store.parked).toBe(0);
  },
);

test('a declined question that is not caught ends the call politely, and finally blocks run', async () => {
  const steps: string[] = [];
  const { site, store } = parking(async (_args, ctx) => {
    try {
      await ctx.elicit('Which units?', Units);
      steps.push('after');
      return textResult('done');
    } finally {
      steps.push('finally');
    }
  });
  expect(await (await site.connect(() => decline)).call()).toEqual({ says: 'Cancelled.' });
  expect(steps).toEqual(['finally']);
  expect(store.parked).toBe(0);
});

test('ctx.ask asks several in one round, and only what is open is asked again', async () => {
  const { site } = parking(async (_args, ctx) =>
    textResult(JSON.stringify(await ctx.ask({ how: units, who: name }))),
  );
  const client = await site.connect();
  const first = await client.send();
  expect(first.asks).toEqual({ how: 'Which units?', who: 'Which name?' });
  const second = await client.answer(first, { how: kelvin, who: ada });
  expect(second.asks).toEqual({ how: 'Which units?' });
  const third = await client.answer(second, { who: grace });
  expect(third.asks).toEqual({ how: 'Which units?' });
  expect(await client.answer(third, { how: metric, who: grace })).toEqual({
    says: '{"how":{"units":"metric"},"who":{"name":"Ada"}}',
  });
});

test('ctx.ask of nothing asks nothing', async () => {
  const { site } = parking(async (_args, ctx) => textResult(JSON.stringify(await ctx.ask({}))));
  expect(await (await site.connect()).call()).toEqual({ says: '{}' });
});

test('two elicits in Promise.all go out as one round, whatever is ready that they await before', async () => {
  const { site } = parking(async (_args, ctx) => {
    const branch = async () => {
      await Promise.resolve();
      for (let n = 0; n < 50; n++) await null;
      return ctx.elicit('Which name?', Name);
    };
    const [first, second] = await Promise.all([ctx.elicit('Which units?', Units), branch()]);
    return textResult(`${first.units}, ${second.name}`);
  });
  const client = await site.connect();
  const asked = await client.send();
  expect(asked.asks).toEqual({ ...UNITS, ...NAME });
  expect(await client.answer(asked, { units: metric, name: ada })).toEqual({ says: 'metric, Ada' });
});

test('questions with the same fields that are open at once have different keys', async () => {
  const { site } = parking(async (_args, ctx) => {
    const asked = ['Your name?', 'Their name?', 'Whose name?'].map((message) => ctx.elicit(message, Name));
    return textResult((await Promise.all(asked)).map(({ name }) => name).join());
  });
  const client = await site.connect();
  const asked = await client.send();
  expect(asked.asks).toEqual({ name: 'Your name?', 'name-2': 'Their name?', 'name-3': 'Whose name?' });
  const again = await client.answer(asked, { 'name-2': grace });
  expect(again.asks).toEqual({ name: 'Your name?', 'name-3': 'Whose name?' });
  expect(await client.answer(again, { name: ada, 'name-3': ada })).toEqual({ says: 'Ada,Grace,Ada' });
});

test('a question that comes up while another is open goes out with it', async () => {
  const { site } = parking(async (_args, ctx) => {
    const slow = ctx.elicit('Which units?', Units);
    const quick = ctx.elicit('Which name?', Name).then(({ name }) => ctx.elicit(`Who is ${name}?`, Name));
    const [first, second] = await Promise.all([slow, quick]);
    return textResult(`${first.units}, ${second.name}`);
  });
  const client = await site.connect();
  const second = await client.answer(await client.send(), { name: ada });
  expect(second.asks).toEqual({ units: 'Which units?', name: 'Who is Ada?' });
  expect(await client.answer(second, { units: metric, name: grace })).toEqual({ says: 'metric, Grace' });
});

test('a client that cannot be asked is not asked: CannotAsk is thrown and nothing is parked', async () => {
  const { site, store } = parking(async (_args, ctx) => {
    const error: unknown = await ctx.elicit('Which units?', Units).catch((error) => error);
    expect(error).toBeInstanceOf(CannotAsk);
    expect(ctx.canAsk('elicitation')).toBe(false);
    return errorResult((error as Error).message);
  });
  expect(await (await site.connect(undefined, {})).send()).toEqual({
    fails: 'The client cannot be asked "Which units?". Test ctx.canAsk first.',
  });
  expect(store.parked).toBe(0);
});

test('one question that cannot be asked keeps its whole ask from going out', async () => {
  const { site, store } = parking(async (_args, ctx) => {
    await ctx.ask({ units, roots: listRoots() });
    return textResult('done');
  });
  expect(await (await site.connect()).send()).toEqual({
    fails: 'The client cannot be asked "roots/list". Test ctx.canAsk first.',
  });
  expect(store.parked).toBe(0);
});

test('the context tells one caller from another, and keeps nothing of their tokens', async () => {
  const { site } = parking((_args, ctx) => textResult(String(ctx.principal)));
  const principalOf = async (sub?: string) => {
    site.caller =
      sub === undefined ? undefined : { token: 'secret', clientId: 'app', scopes: [], extra: { sub } };
    return (await (await site.connect()).send()).says;
  };
  const [nobody, eve, adam, eveAgain] = [
    await principalOf(),
    await principalOf('eve'),
    await principalOf('adam'),
    await principalOf('eve'),
  ];
  expect(nobody).toBe('undefined');
  expect(eve).toMatch(/^[\w-]{43}$/);
  expect(eveAgain).toBe(eve);
  expect(adam).not.toBe(eve);
});

test('an answer that comes before its question is not consumed, nor is one to another key', async () => {
  const { site } = parking(async (_args, ctx) => textResult((await ctx.elicit('Which units?', Units)).units));
  const client = await site.connect();
  const first = await client.send({ inputResponses: { units: metric } });
  expect(first.asks).toEqual(UNITS);
  const second = await client.answer(first, { unit: metric, ['__proto__']: metric, 'units-2': metric });
  expect(second.asks).toEqual(UNITS);
  expect(await client.answer(second, { units: metric })).toEqual({ says: 'metric' });
});

test('what the handler throws is an error result, in the first round and after an answer', async () => {
  const { site, store } = parking(async ({ n }, ctx) => {
    if (n === 1) throw new Error('No such thing.');
    await ctx.elicit('Which units?', Units);
    throw new Error('No longer.');
  });
  const client = await site.connect(() => metric);
  expect(await client.call({ n: 1 })).toEqual({ fails: 'No such thing.' });
  expect(await client.call({ n: 2 })).toEqual({ fails: 'No longer.' });
  expect(store.parked).toBe(0);
});

test('an old client is asked by the SDK over its connection, and the handler still runs once', async () => {
  const entered = counted(() => {});
  const { site, store } = parking(async (_args, ctx) => {
    entered();
    const answers = await ctx.ask({ units, name });
    const { more } = await ctx.elicit('More?', z.object({ more: z.boolean() }));
    return textResult(JSON.stringify({ ...answers, more }));
  });
  const client = await site.connectLegacy((message) =>
    message === 'More?' ? accept({ more: true }) : user(message),
  );
  expect(await client.call()).toEqual({
    says: '{"units":{"units":"metric"},"name":{"name":"Ada"},"more":true}',
  });
  expect(client.questions).toEqual(['Which units?', 'Which name?', 'More?']);
  expect([entered.runs, store.parked]).toEqual([1, 0]);
});

test('an old client that the policy does not ask gets CannotAsk', async () => {
  const { site, store } = parking(
    async (_args, ctx) => textResult((await ctx.elicit('Which units?', Units)).units),
    { legacy: 'degrade' },
  );
  const client = await site.connectLegacy(() => metric);
  expect(await client.call()).toEqual({
    fails: 'The client cannot be asked "Which units?". Test ctx.canAsk first.',
  });
  expect([client.questions, store.parked]).toEqual([[], 0]);
});

test('state of another shape is no continuation: the handler starts', async () => {
  const state = JSON.stringify({ s: 'linear/0', c: { id: 'x' } });
  const store = new ContinuationStore();
  const site = new Site(tool(async () => inputRequired({ requestState: state })));
  const client = await site.connect();
  const asked = await client.send();
  site.deploy(tool(linear(() => textResult('started'), { store })));
  expect(await client.answer(asked, {})).toEqual({ says: 'started' });
});

test('a server that does not protect its request state is refused before the handler runs', async () => {
  const store = new ContinuationStore();
  const entered = counted(() => textResult('entered'));
  const site = new Site(() => {});
  site.serve(() => {
    const server = new McpServer({ name: 'bare', version: '0' });
    tool(linear(entered, { store }))(server);
    return server;
  });
  expect(await (await site.connect()).send()).toEqual({
    fails: expect.stringContaining('on a server that does not protect it'),
  });
  expect(entered.runs).toBe(0);
});

test('in prompts and resources a declined question and a lost continuation are JSON-RPC errors', async () => {
  const store = new ContinuationStore();
  const who = elicitation('Which name?', Name);
  const site = new Site((server) => {
    const prompt = linear(
      async (_args: object, ctx) => {
        const answers = await ctx.ask({ name: who });
        return { messages: [{ role: 'user', content: { type: 'text', text: answers.name.name } }] };
      },
      { store },
    );
    server.registerPrompt('prompt', { argsSchema: z.object({}) }, prompt);
    const resource = linear(
      async (uri: URL, ctx) => ({
        contents: [{ uri: uri.href, text: (await ctx.ask({ name: who })).name.name }],
      }),
      { store },
    );
    server.registerResource('resource', 'test://resource', {}, resource);
  });
  const client = await site.connect();
  const lost = { rejects: expect.stringMatching(/^This call cannot go on here: .* Start the call again\.$/) };
  for (const method of ['prompt', 'resource'] as const) {
    const round = async (response: object) => {
      const { asks, state } = await client[method]();
      expect(asks).toEqual(NAME);
      return { inputResponses: { name: response }, requestState: state };
    };
    const accepted = await round(ada);
    expect(await client[method](accepted)).toEqual({ says: 'Ada' });
    expect(await client[method](accepted)).toEqual(lost);
    expect(await client[method](await round(decline))).toEqual({ rejects: 'Cancelled.' });
  }
  expect(store.parked).toBe(0);
});
