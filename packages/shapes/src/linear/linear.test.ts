import {
  CannotAsk,
  ElicitationDeclined,
  listRoots,
  MemoryLedger,
  RoundsExceeded,
  textResult,
  words,
} from '@mrtr/core';
import { callerNamed } from '@mrtr/harness';
import { Deferred, settle } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  accept,
  ada,
  cancel,
  decline,
  kelvin,
  metric,
  Name,
  name,
  TestDeployment,
  Units,
  units,
} from '../fixture.test-support.ts';
import { ContinuationStore, type LinearContext, linear } from './index.ts';
import { ContinuationLost } from './messages.ts';
import { parking } from './parking.test-support.ts';

const UNITS = { units: 'Which units?' };
const NAME = { name: 'Which name?' };
const grace = accept({ name: 'Grace' });
const user = (message: string) => (message === 'Which units?' ? metric : ada);

test('the handler runs once, front to back, and may hold values that are not JSON', async () => {
  const steps: string[] = [];
  const { site } = await parking(async ({ n }, ctx) => {
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

test('the text of elicit may be words', async () => {
  const { client } = await parking(async ({ n = 0 }, ctx) => {
    await ctx.elicit(words`Which units for ${n}?`, Units);
    return textResult('');
  });
  expect((await client.send({ arguments: { n: 4 } })).asks).toEqual({ units: 'Which units for “4”?' });
});

test.each([
  ['declined', decline],
  ['cancelled', cancel],
] as const)('a %s question throws with its kind, and the handler may continue', async (kind, refusal) => {
  const { site, store } = await parking(async (_args, ctx) => {
    const error: unknown = await ctx.elicit('Which units?', Units).catch((error) => error);
    expect(error).toEqual(new ElicitationDeclined(kind, 'units'));
    const { name } = await ctx.elicit('Which name?', Name);
    return textResult(`${(error as ElicitationDeclined).kind}, ${name}`);
  });
  const client = await site.connect((message) => (message === 'Which units?' ? refusal : ada));
  expect(await client.call()).toEqual({ says: `${kind}, Ada` });
  expect(store.parked).toBe(0);
});

test.each<[string, (ctx: LinearContext) => Promise<unknown>, string]>([
  ['without a key', (ctx) => ctx.ask(name as never), 'Give the question a key:'],
  ['under the key `__proto__`', (ctx) => ctx.ask('__proto__', name), "cannot have the key '__proto__'"],
])('a question %s is the author’s mistake, and says so', async (_what, ask, fails) => {
  const { client } = await parking(async (_args, ctx) => textResult(String(await ask(ctx))));
  expect(await client.send()).toEqual({ fails: expect.stringContaining(fails) });
});

test('two elicits in Promise.all go out in one round, also after awaits of values that are ready', async () => {
  const { client } = await parking(async (_args, ctx) => {
    const branch = async () => {
      await Promise.resolve();
      for (let n = 0; n < 50; n++) await null;
      return ctx.elicit('Which name?', Name);
    };
    const [first, second] = await Promise.all([ctx.elicit('Which units?', Units), branch()]);
    return textResult(`${first.units}, ${second.name}`);
  });
  const asked = await client.send();
  expect(asked.asks).toEqual({ ...UNITS, ...NAME });
  expect(await client.answer(asked, { units: metric, name: ada })).toEqual({ says: 'metric, Ada' });
});

test('questions with the same fields that are open at once have different keys', async () => {
  const { client } = await parking(async (_args, ctx) => {
    const asked = ['Your name?', 'Their name?', 'Whose name?'].map((message) => ctx.elicit(message, Name));
    return textResult((await Promise.all(asked)).map(({ name }) => name).join());
  });
  const asked = await client.send();
  expect(asked.asks).toEqual({ name: 'Your name?', 'name-2': 'Their name?', 'name-3': 'Whose name?' });
  const again = await client.answer(asked, { 'name-2': grace });
  expect(again.asks).toEqual({ name: 'Your name?', 'name-3': 'Whose name?' });
  expect(await client.answer(again, { name: ada, 'name-3': ada })).toEqual({ says: 'Ada,Grace,Ada' });
});

test.each<[what: string, ask: (ctx: LinearContext) => Promise<unknown>, lacks: object]>([
  ['that is not asked', (ctx) => ctx.elicit('Which name?', Name), { elicitation: expect.anything() }],
  ['that is asked beside others', (ctx) => ctx.ask({ name, roots: listRoots() }), { roots: {} }],
])(
  'a question %s ends the call of a client that cannot be asked with CannotAsk',
  async (_what, ask, lacks) => {
    const thrown: unknown[] = [];
    const { site, store } = await parking(async (_args, ctx) => {
      await ask(ctx).catch((error: unknown) => thrown.push(error));
      return textResult('done');
    });
    const capabilities = 'roots' in lacks ? { elicitation: {} } : {};
    expect(await (await site.connect(undefined, capabilities)).send()).toEqual({ lacks });
    await settle();
    expect([thrown, store.parked]).toEqual([[expect.any(CannotAsk)], 0]);
  },
);

test('the context identifies the caller without keeping the access token', async () => {
  const { client, site } = await parking((_args, ctx) => textResult(String(ctx.pseudonym)));
  expect((await client.send()).says).toBe('undefined');
  site.caller = callerNamed('eve');
  expect((await client.send()).says).toMatch(/^[\w-]{22}$/);
});

test('a lost continuation of a prompt is a JSON-RPC error', async () => {
  const store = new ContinuationStore();
  const site = new TestDeployment((server) => {
    const who = linear(
      async (_args: object, ctx) => {
        const text = (await ctx.ask('name', name)).name;
        return { messages: [{ role: 'user', content: { type: 'text', text } }] };
      },
      { store },
    );
    server.registerPrompt('prompt', { argsSchema: z.object({}) }, who);
  });
  const client = await site.connect();
  const { state } = await client.prompt();
  const round = { inputResponses: { name: ada }, requestState: state };
  expect(await client.prompt(round)).toEqual({ says: 'Ada' });
  expect(await client.prompt(round)).toEqual({
    rejects: expect.stringMatching(/^This call cannot be resumed here: .* Start the call again\.$/),
  });
});

test('a handler that asks after its client hung up did not end by itself, and the retry hears that', async () => {
  const [paying, gone] = [new Deferred(), new Deferred()];
  const pay = async (_args: object, ctx: LinearContext) => {
    await ctx.elicit('Which units?', Units);
    paying.open();
    await gone.promise;
    return textResult((await ctx.elicit('Which name?', Name)).name);
  };
  const { client } = await parking(pay, {}, { singleUse: 'replay', ledger: new MemoryLedger() });
  const asked = await client.send();
  const hangUp = new AbortController();
  const cut = client.answer(asked, { units: metric }, { signal: hangUp.signal });
  await paying.promise;
  hangUp.abort();
  await cut;
  gone.open();
  expect(await client.answer(asked, { units: metric })).toEqual({
    fails: expect.stringContaining('its outcome is unknown'),
  });
});

// Steps

test.each<[what: string, inner: (ctx: LinearContext) => Promise<unknown>, why: string]>([
  ['a question', (ctx) => ctx.elicit('Which units?', Units), "The question 'units' is inside of a once"],
  [
    'a question that needs no answer',
    (ctx) => ctx.ask('roots', listRoots({ fallback: { roots: [] } })),
    "The question 'roots' is inside of a once",
  ],
  [
    'a question whose form is wrong',
    (ctx) => ctx.elicit('Which units?', z.object({ units: z.object({}) })),
    "The question 'Which units?' is inside of a once",
  ],
  ['a step', (ctx) => ctx.once('inner', () => 1), "The step 'inner' is inside of a once"],
])('%s inside a step is rejected, also after an await', async (_what, inner, why) => {
  const { site, store } = await parking(async (_args, ctx) => {
    await ctx.once('outer', async () => {
      await settle(1);
      await inner(ctx);
    });
    return textResult('done');
  });
  expect((await (await site.connect()).send()).fails).toContain(why);
  expect(store.parked).toBe(0);
});

test('a handler that catches the end of its question may ask again, and leaves nothing parked', async () => {
  const { client, store } = await parking(
    async (_args, ctx) => {
      for (;;) {
        const answer = await ctx.ask('units', units).catch((error: unknown) => error);
        if (!(answer instanceof RoundsExceeded)) return textResult(JSON.stringify(answer));
      }
    },
    {},
    { limits: { rounds: 5 } },
  );
  const afterUnfit = async (times: number) => {
    let asked = await client.send();
    for (let sent = 0; sent < times; sent++) asked = await client.answer(asked, { units: kelvin });
    return asked;
  };
  const again = await afterUnfit(4);
  expect(again.asks).toEqual({ units: expect.stringContaining('The last answer did not fit.') });
  expect(await client.answer(again, { units: metric })).toEqual({ says: '{"units":"metric"}' });
  expect(await afterUnfit(5)).toEqual({ fails: expect.stringContaining('still needs input after 5 rounds') });
  expect(store.parked).toBe(0);
});

test('a call that was ended takes no further step', async () => {
  const steps: string[] = [];
  const { site, store } = await parking(async (_args, ctx) => {
    await ctx.elicit('Which units?', Units).catch(() => steps.push('ended'));
    await ctx.once('pay', () => steps.push('paid')).catch((error) => steps.push(error.constructor.name));
    return textResult('done');
  });
  await (await site.connect()).send();
  await store.close();
  expect(steps).toEqual(['ended', ContinuationLost.name]);
});

test('code that an effect left running may ask, also while another effect runs', async () => {
  const [first, second] = [new Deferred(), new Deferred()];
  const { client } = await parking(async ({ n }, ctx) => {
    if (n === 1) return textResult(await ctx.once('slow', () => second.promise.then(() => 'slow')));
    let later: Promise<string> = Promise.resolve('');
    await ctx.once('start', () => {
      later = first.promise.then(async () => (await ctx.elicit('Which units?', Units)).units);
    });
    return textResult(await later);
  });
  const asked = client.send();
  const other = client.send({ arguments: { n: 1 } });
  await settle();
  first.open();
  expect(await client.answer(await asked, { units: metric })).toEqual({ says: 'metric' });
  second.open();
  expect(await other).toEqual({ says: 'slow' });
});

test('an author may take the functions out of the context', async () => {
  const { client } = await parking(async (_args, { elicit, once, canAsk, idempotencyKey }) => {
    const { units } = await elicit('Which units?', Units);
    const key = await once('key', () => idempotencyKey('key'));
    return textResult(`${units}, ${canAsk('elicitation')}, ${key === idempotencyKey('key')}`);
  });
  expect(await client.answer(await client.send(), { units: metric })).toEqual({ says: 'metric, true, true' });
});
