import { McpServer } from '@modelcontextprotocol/server';
import { elicitation, inputRequired, isRefusal, isSettled, type Questions, textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  accept,
  ada,
  cancel,
  counted,
  decline,
  Gate,
  kelvin,
  metric,
  name,
  Site,
  tool,
  turns,
  Units,
  units,
} from './fixture.test-support.ts';
import { type OnceContext, once } from './once.ts';

const UNITS = { units: 'Which units?' };
const NAME = { name: 'Which name?' };

/** A tool that does `work` above its guard, asks for units until they are given, and then says what it read. */
const working = (work: (ctx: OnceContext) => unknown) =>
  tool(
    once(async (_args, ctx) => {
      const read = await work(ctx);
      if (!isSettled(ctx.answer('units', units))) return ctx.ask({ units });
      return textResult(JSON.stringify(read) ?? 'undefined');
    }),
  );

/** A tool that asks all of `questions` that are open in one round, and then says what was answered. */
const survey = (questions: Questions, states: (string | undefined)[] = []) =>
  tool(
    once((_args, ctx) => {
      states.push(ctx.mcpReq.requestState<string>());
      const entries = Object.entries(questions).map(
        ([key, question]) => [key, ctx.answer(key, question)] as const,
      );
      const open = entries.filter(([, answer]) => !isSettled(answer)).map(([key]) => [key, questions[key]]);
      return open.length > 0
        ? ctx.ask(Object.fromEntries(open))
        : textResult(JSON.stringify(Object.fromEntries(entries)));
    }),
  );

/** The same, one question at a time. */
const interview = (questions: Questions, states: (string | undefined)[] = []) =>
  tool(
    once((_args, ctx) => {
      states.push(ctx.mcpReq.requestState<string>());
      const kinds: string[] = [];
      for (const [key, question] of Object.entries(questions)) {
        const answer = ctx.answer(key, question);
        if (!isSettled(answer)) return ctx.ask({ [key]: question });
        kinds.push(answer.kind);
      }
      return textResult(kinds.join());
    }),
  );

// Effects

test.each([
  [undefined],
  [null],
  [0],
  [''],
  [false],
  [[]],
  ['text'],
  [{ a: [1, { b: null }], c: { d: 'e' } }],
])('an effect runs in the first round and reads %j in every round', async (value) => {
  const reads: unknown[] = [];
  const effect = counted(() => value);
  const site = new Site(working(async (ctx) => void reads.push(await ctx.once('effect', effect))));
  const client = await site.connect();
  const asked = await client.send();
  const again = await client.answer(asked, { units: kelvin });
  expect(again.asks).toEqual(UNITS);
  expect(await client.answer(again, { units: metric })).toEqual({ says: 'undefined' });
  expect(reads).toEqual([value, value, value]);
  expect(effect.runs).toBe(1);
});

test('concurrent effects of one key run once and read the same', async () => {
  const gate = new Gate<number>();
  const slow = counted(() => gate.promise);
  const site = new Site(
    working(async (ctx) => {
      const both = Promise.all([ctx.once('key', slow), ctx.once('key', slow)]);
      gate.open(7);
      return [...(await both), await ctx.once('key', slow)];
    }),
  );
  expect(await (await site.connect(() => metric)).call()).toEqual({ says: '[7,7,7]' });
  expect(slow.runs).toBe(1);
});

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
    const print = counted((run) => (run === 1 ? fail() : 'printed'));
    const site = new Site(working((ctx) => ctx.once('print', print).catch((error: Error) => error.message)));
    const client = await site.connect();
    const asked = await client.send();
    expect(print.runs).toBe(1);
    const again = await client.answer(asked, { units: kelvin });
    expect(await client.answer(again, { units: metric })).toEqual({ says: '"printed"' });
    expect(print.runs).toBe(2);
  },
);

test.each(FAILURES)('an effect that throws %s can be tried again in the same round', async (_how, fail) => {
  const print = counted((run) => (run < 3 ? fail() : run));
  const attempt = (ctx: OnceContext) => ctx.once('print', print).catch((error: Error) => error.message);
  const site = new Site(
    working(async (ctx) => [await attempt(ctx), await attempt(ctx), await attempt(ctx), await attempt(ctx)]),
  );
  const client = await site.connect(() => metric);
  expect(await client.send()).toMatchObject({ asks: UNITS });
  expect(print.runs).toBe(3);
});

test.each(FAILURES)('an effect that nobody awaits and that throws %s harms nobody', async (_how, fail) => {
  const print = counted(fail);
  const site = new Site(working((ctx) => void ctx.once('print', print)));
  expect(await (await site.connect(() => metric)).call()).toEqual({ says: 'undefined' });
  expect(print.runs).toBe(2);
});

test('an effect that throws and is not caught is an error result, with nothing recorded', async () => {
  const charge = counted((run) => {
    if (run === 1) throw new Error('No connection.');
    return 'charged';
  });
  const site = new Site(working((ctx) => ctx.once('charge', charge)));
  const client = await site.connect(() => metric);
  expect(await client.call()).toEqual({ fails: 'No connection.' });
  expect(await client.call()).toEqual({ says: '"charged"' });
});

test('an effect that nobody awaits is recorded before the question goes out', async () => {
  const [started, finish] = [new Gate(), new Gate()];
  const mail = counted(() => {
    started.open();
    return finish.promise;
  });
  const site = new Site(working((ctx) => void ctx.once('mail', mail)));
  const client = await site.connect();
  let arrived = false;
  const asking = client.send().finally(() => {
    arrived = true;
  });
  await started.promise;
  await turns();
  expect(arrived).toBe(false);
  finish.open();
  expect(await client.answer(await asking, { units: metric })).toEqual({ says: 'undefined' });
  expect(mail.runs).toBe(1);
});

test('effects that follow one another without being awaited are recorded as well', async () => {
  const runs: string[] = [];
  const run = (key: string) => () => turns(1).then(() => void runs.push(key));
  const site = new Site(
    working((ctx) => {
      void (async () => {
        for (const key of ['first', 'second', 'third']) await ctx.once(key, run(key));
      })();
    }),
  );
  expect(await (await site.connect(() => metric)).call()).toEqual({ says: 'undefined' });
  expect(runs).toEqual(['first', 'second', 'third']);
});

test('effects are told apart by any key, `__proto__` and `constructor` included', async () => {
  const keys = ['__proto__', 'constructor', 'toString', '', 'a b', '0'];
  const runs: string[] = [];
  const run = (key: string) => () => `${key} ${runs.push(key)}`;
  const reads: string[][] = [];
  const site = new Site(
    working(async (ctx) => reads.push(await Promise.all(keys.map((key) => ctx.once(key, run(key)))))),
  );
  await (await site.connect(() => metric)).call();
  const expected = keys.map((key, at) => `${key} ${at + 1}`);
  expect(reads).toEqual([expected, expected]);
  expect(runs).toEqual(keys);
});

test('what the author does to a value after it was recorded does not change the record', async () => {
  const site = new Site(
    working(async (ctx) => {
      const basket = await ctx.once('basket', () => ['apple']);
      basket.push('pear');
      return [...basket, ...(await ctx.once('basket', () => ['never']))];
    }),
  );
  const client = await site.connect();
  const again = await client.answer(await client.send(), { units: kelvin });
  expect(await client.answer(again, { units: metric })).toEqual({ says: '["apple","pear","apple"]' });
});

test('a round that is sent twice runs its effects twice: only single-use state could help', async () => {
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

test('a value that is not JSON is refused with its path, and not recorded', async () => {
  const when = counted(() => ({ at: new Date(0) }));
  const site = new Site(working((ctx) => ctx.once('when', when)));
  const client = await site.connect();
  const refused = {
    fails:
      "The value of once('when') is kept between rounds and must be JSON; $.at is not. Convert it first.",
  };
  expect([await client.send(), await client.send()]).toEqual([refused, refused]);
  expect(when.runs).toBe(2);
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

test.each([
  ['an invalid', { units: kelvin, name: ada }],
  ['a missing', { name: ada }],
  ['a misshapen', { units: 42, name: ada }],
  ['an empty', { units: { action: 'accept' }, name: ada }],
])('%s answer is asked again, and the good one beside it is not', async (_what, responses) => {
  const site = new Site(survey({ units, name }));
  const client = await site.connect();
  const asked = await client.send();
  expect(asked.asks).toEqual({ ...UNITS, ...NAME });
  const again = await client.answer(asked, responses);
  expect(again.asks).toEqual(UNITS);
  expect(await client.answer(again, { units: metric })).toEqual({
    says: JSON.stringify({
      units: { kind: 'accepted', value: { units: 'metric' } },
      name: { kind: 'accepted', value: { name: 'Ada' } },
    }),
  });
});

test('a good answer that the author did not get to in its round is not lost', async () => {
  const site = new Site(interview({ units, name }));
  site.deploy(
    tool(
      once((_args, ctx) => {
        if (!isSettled(ctx.answer('units', units))) return ctx.ask({ units, name });
        const answer = ctx.answer('name', name);
        return isSettled(answer) ? textResult(JSON.stringify(answer)) : ctx.ask({ name });
      }),
    ),
  );
  const client = await site.connect();
  const asked = await client.send();
  const again = await client.answer(asked, { units: kelvin, name: ada });
  // The author asks both once more; here the client leaves the second one out.
  expect(again.asks).toEqual({ ...UNITS, ...NAME });
  expect((await client.answer(again, { units: metric })).asks).toEqual(NAME);
});

test('an answer reads the same however often it is read', async () => {
  const kinds: string[] = [];
  const site = new Site(
    working((ctx) => void kinds.push(ctx.answer('units', units).kind, ctx.answer('units', units).kind)),
  );
  const client = await site.connect();
  const again = await client.answer(await client.send(), { units: kelvin });
  await client.answer(again, { units: metric });
  expect(kinds).toEqual(['missing', 'missing', 'invalid', 'invalid', 'accepted', 'accepted']);
});

test.each([
  ['message', elicitation('Which units, please?', Units)],
  ['schema', elicitation('Which units?', z.object({ units: z.enum(['metric', 'imperial', 'nautical']) }))],
])('a question whose %s changed while it was out is asked again', async (_what, reworded) => {
  const site = new Site(survey({ units, name }));
  const client = await site.connect();
  const asked = await client.send();
  site.deploy(survey({ units: reworded, name }));
  const again = await client.answer(asked, { units: metric, name: ada });
  expect(again.asks).toEqual({ units: reworded.message });
  expect(await client.answer(again, { units: metric })).toMatchObject({ says: expect.any(String) });
});

test('a question that was answered rounds ago is asked again when it was reworded since', async () => {
  const reworded = elicitation('Celsius or Fahrenheit?', Units);
  const site = new Site(interview({ units, name }));
  const client = await site.connect();
  const second = await client.answer(await client.send(), { units: metric });
  expect(second.asks).toEqual(NAME);
  site.deploy(interview({ units: reworded, name }));
  const third = await client.answer(second, { name: ada });
  expect(third.asks).toEqual({ units: reworded.message });
  expect(await client.answer(third, { units: metric })).toEqual({ says: 'accepted,accepted' });
});

test('an answer to a question that was never asked is not consumed, in the first round or later', async () => {
  const site = new Site(interview({ units, name }));
  const client = await site.connect();
  const first = await client.send({ inputResponses: { units: metric, name: ada } });
  expect(first.asks).toEqual(UNITS);
  expect((await client.answer(first, { units: metric, name: ada, other: metric })).asks).toEqual(NAME);
});

test('an answer replaces nothing that was settled in an earlier round', async () => {
  const site = new Site(survey({ units }));
  site.deploy(
    tool(
      once((_args, ctx) => {
        const [first, second] = [ctx.answer('units', units), ctx.answer('name', name)];
        if (!isSettled(first)) return ctx.ask({ units });
        if (!isSettled(second)) return ctx.ask({ name });
        return textResult(JSON.stringify(first));
      }),
    ),
  );
  const client = await site.connect();
  const second = await client.answer(await client.send(), { units: metric });
  expect(await client.answer(second, { units: accept({ units: 'imperial' }), name: ada })).toEqual({
    says: JSON.stringify({ kind: 'accepted', value: { units: 'metric' } }),
  });
});

test('an author may ask an accepted question again, and the new answer counts', async () => {
  const site = new Site(
    tool(
      once((_args, ctx) => {
        const answer = ctx.answer('name', name);
        if (isRefusal(answer)) return textResult('Nobody.');
        if (answer.kind !== 'accepted' || answer.value.name === 'Taken') return ctx.ask({ name });
        return textResult(answer.value.name);
      }),
    ),
  );
  const client = await site.connect();
  const asked = await client.send();
  const taken = await client.answer(asked, { name: accept({ name: 'Taken' }) });
  expect(taken.asks).toEqual(NAME);
  const silent = await client.answer(taken, {});
  expect(silent.asks).toEqual(NAME);
  expect(await client.answer(silent, { name: ada })).toEqual({ says: 'Ada' });
});

test('fields beyond the form are neither recorded nor read in later rounds', async () => {
  const states: (string | undefined)[] = [];
  const site = new Site(interview({ units, name, again: name }, states));
  const client = await site.connect();
  const extra = { ...accept({ units: 'metric', admin: 'yes' }), _meta: { 'x/y': 1 }, also: 1 };
  const second = await client.answer(await client.send(), { units: extra });
  await client.answer(second, { name: { action: 'decline', content: { name: 'Eve' } } });
  expect(states[0]).toBeUndefined();
  expect(states.slice(1).map((state) => JSON.parse(state ?? ''))).toEqual([
    { s: 'once/1', q: { units: units.digest } },
    {
      s: 'once/1',
      q: { name: name.digest },
      a: { units: [units.digest, { action: 'accept', content: { units: 'metric' } }] },
    },
  ]);
});

test('an answer that does not fit is not carried along while something else is asked', async () => {
  const states: (string | undefined)[] = [];
  const site = new Site(
    tool(
      once((_args, ctx) => {
        states.push(ctx.mcpReq.requestState<string>());
        if (ctx.answer('units', units).kind === 'invalid') return ctx.ask({ name });
        return ctx.ask({ units });
      }),
    ),
  );
  const client = await site.connect();
  const second = await client.answer(await client.send(), { units: kelvin });
  expect((await client.answer(second, { name: ada })).asks).toEqual(UNITS);
  expect(JSON.parse(states[2] ?? '')).toEqual({ s: 'once/1', q: { name: name.digest } });
});

// State, servers, methods

test.each([
  ['another shape', { s: 'linear/1', e: { audit: ['forged'] } }],
  ['another version', { s: 'once/0', e: { audit: ['forged'] } }],
  ['no shape', { e: { audit: ['forged'] } }],
])('state of %s is no progress', async (_whose, state) => {
  const site = new Site(tool(async () => inputRequired({ requestState: JSON.stringify(state) })));
  const client = await site.connect();
  const asked = await client.send();
  site.deploy(working((ctx) => ctx.once('audit', () => 'written')));
  const again = await client.answer(asked, { units: metric });
  expect(again.asks).toEqual(UNITS);
  expect(await client.answer(again, { units: metric })).toEqual({ says: '"written"' });
});

test.each(['', 'null', '"text"', '[]', '{"s":', '{"s":"once/1","a":null,"q":3,"e":"x"}'])(
  'state that reads %j is no progress either',
  async (text) => {
    const site = new Site(tool(async () => inputRequired({ requestState: text })));
    const client = await site.connect();
    const asked = await client.send();
    site.deploy(working(() => 'fine'));
    expect((await client.answer(asked, { units: metric })).asks).toEqual(UNITS);
  },
);

test('a server that does not protect its request state is refused', async () => {
  const work = counted(() => 'worked');
  const site = new Site(() => {});
  site.serve(() => {
    const server = new McpServer({ name: 'bare', version: '0' });
    working(work)(server);
    return server;
  });
  expect(await (await site.connect()).send()).toEqual({
    fails:
      'tools/call reached a handler that keeps request state on a server that does not protect it. ' +
      'Call protectRequestState(server, policy) on the new McpServer before anything is registered.',
  });
  expect(work.runs).toBe(0);
});

test('a hand-built inputRequired(...) serves as well as ctx.ask', async () => {
  const effect = counted(() => 'done');
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

test('an old client is asked by the SDK, round by round, and effects run once', async () => {
  const effect = counted((run) => run);
  const site = new Site(working((ctx) => ctx.once('effect', effect)));
  const client = await site.connectLegacy(() => (client.questions.length === 1 ? kelvin : metric));
  expect(await client.call()).toEqual({ says: '1' });
  expect(client.questions).toEqual(['Which units?', 'Which units?']);
  expect(effect.runs).toBe(1);
});

test('prompts and resources are served the same way', async () => {
  const runs: string[] = [];
  const site = new Site((server) => {
    const prompt = once(async (_args: object, ctx) => {
      await ctx.once('effect', () => void runs.push('prompt'));
      const answer = ctx.answer('name', name);
      if (answer.kind !== 'accepted') return ctx.ask({ name });
      return { messages: [{ role: 'user', content: { type: 'text', text: answer.value.name } }] };
    });
    server.registerPrompt('prompt', { argsSchema: z.object({}) }, prompt);
    const resource = once(async (uri: URL, ctx) => {
      await ctx.once('effect', () => void runs.push('resource'));
      const answer = ctx.answer('name', name);
      if (answer.kind !== 'accepted') return ctx.ask({ name });
      return { contents: [{ uri: uri.href, text: answer.value.name }] };
    });
    server.registerResource('resource', 'test://resource', {}, resource);
  });
  const client = await site.connect();
  const asked = { prompt: await client.prompt(), resource: await client.resource() };
  expect([asked.prompt.asks, asked.resource.asks]).toEqual([NAME, NAME]);
  const round = (state: string | undefined) => ({ inputResponses: { name: ada }, requestState: state });
  expect(await client.prompt(round(asked.prompt.state))).toEqual({ says: 'Ada' });
  expect(await client.resource(round(asked.resource.state))).toEqual({ says: 'Ada' });
  expect(runs).toEqual(['prompt', 'resource']);
});
