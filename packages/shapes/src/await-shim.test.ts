/** The cautionary tale: most of what is pinned here is a hazard, and not a feature. */
import { McpServer } from '@modelcontextprotocol/server';
import { ElicitationDeclined, inputRequired, textResult } from '@mrtr/core';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type AwaitShimContext, awaitShim } from './await-shim.ts';
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
  turns,
  Units,
} from './fixture.test-support.ts';

const UNITS = { units: 'Which units?' };
const NAME = { name: 'Which name?' };
const user = (message: string) => (message === 'Which units?' ? metric : ada);

/** Asks for units and a name, one after the other; `above` stands above, between and below the questions. */
const interview = (above: (line: string) => unknown) =>
  tool(
    awaitShim(async (_args, ctx) => {
      above('first line');
      const { units } = await ctx.elicit('Which units?', Units);
      above('second line');
      const { name } = await ctx.elicit('Which name?', Name);
      above('third line');
      return textResult(`${units}, ${name}`);
    }),
  );

test('the handler runs again from its first line in every round', async () => {
  const lines: string[] = [];
  const site = new Site(interview((line) => lines.push(line)));
  expect(await (await site.connect(user)).call()).toEqual({ says: 'metric, Ada' });
  expect(lines).toEqual([
    'first line',
    ...['first line', 'second line'],
    ...['first line', 'second line', 'third line'],
  ]);
});

test('on an old client the call really waits, so that everything runs once and tests there pass', async () => {
  const lines: string[] = [];
  const site = new Site(interview((line) => lines.push(line)));
  const client = await site.connectLegacy((message) =>
    client.questions.length === 1 ? kelvin : user(message),
  );
  expect(await client.call()).toEqual({ says: 'metric, Ada' });
  expect(client.questions).toEqual(['Which units?', 'Which units?', 'Which name?']);
  expect(lines).toEqual(['first line', 'second line', 'third line']);
});

test('a catch block sees the unwinding, and swallows the question with it', async () => {
  const caught: string[] = [];
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        try {
          return textResult((await ctx.elicit('Which units?', Units)).units);
        } catch (error) {
          caught.push((error as Error).message);
          return textResult('metric, I guess');
        }
      }),
    ),
  );
  expect(await (await site.connect(() => metric)).call()).toEqual({ says: 'metric, I guess' });
  expect(caught).toEqual([
    'Unwinding to ask the user. If you read this in a log, a catch block swallowed a question.',
  ]);
});

test('a finally block runs in every round, although nothing failed', async () => {
  const cleanUp = counted(() => {});
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        try {
          return textResult((await ctx.elicit('Which units?', Units)).units);
        } finally {
          cleanUp();
        }
      }),
    ),
  );
  expect(await (await site.connect(() => metric)).call()).toEqual({ says: 'metric' });
  expect(cleanUp.runs).toBe(2);
});

test('two questions in Promise.all take a round each: the first to throw unwinds', async () => {
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        const asked = [ctx.elicit('Your name?', Name), ctx.elicit('Their name?', Name)];
        return textResult((await Promise.all(asked)).map(({ name }) => name).join());
      }),
    ),
  );
  const client = await site.connect();
  const first = await client.send();
  expect(first.asks).toEqual({ name: 'Your name?' });
  const second = await client.answer(first, { name: ada });
  expect(second.asks).toEqual({ 'name-2': 'Their name?' });
  expect(await client.answer(second, { 'name-2': accept({ name: 'Grace' }) })).toEqual({ says: 'Ada,Grace' });
});

test('two questions that are started together and awaited one by one are no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const listener = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', listener);
  onTestFinished(() => void process.off('unhandledRejection', listener));
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        const [first, second] = [ctx.elicit('Which units?', Units), ctx.elicit('Which name?', Name)];
        return textResult(`${(await first).units}, ${(await second).name}`);
      }),
    ),
  );
  expect(await (await site.connect(user)).call()).toEqual({ says: 'metric, Ada' });
  await turns(3);
  expect(unhandled).toEqual([]);
});

test('earlier answers are remembered, and a wrong or missing one is asked again', async () => {
  const site = new Site(interview(() => {}));
  const client = await site.connect();
  let asked = await client.send({ inputResponses: { units: metric, name: ada } });
  for (const responses of [{ units: kelvin }, {}, { name: ada }]) {
    expect(asked.asks).toEqual(UNITS);
    asked = await client.answer(asked, responses);
  }
  const second = await client.answer(asked, { units: metric, name: ada });
  expect(second.asks).toEqual(NAME);
  expect(await client.answer(second, { name: ada })).toEqual({ says: 'metric, Ada' });
});

test('one question in a loop is a new question each time round', async () => {
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        let count = 0;
        while ((await ctx.elicit('More?', z.object({ more: z.boolean() }))).more) count++;
        return textResult(String(count));
      }),
    ),
  );
  const more = counted((run) => accept({ more: run < 4 }));
  const client = await site.connect(more);
  expect(await client.call()).toEqual({ says: '3' });
});

test.each([
  ['declined', decline, 'decline'],
  ['cancelled', cancel, 'cancel'],
] as const)(
  'a %s question throws with the action; left alone, it ends the call politely',
  async (_how, refusal, action) => {
    const actions: string[] = [];
    const site = new Site(
      tool(
        awaitShim(async (_args, ctx) => {
          const { units } = await ctx.elicit('Which units?', Units).catch((error) => {
            if (error instanceof ElicitationDeclined) actions.push(error.action);
            throw error;
          });
          return textResult(units);
        }),
      ),
    );
    expect(await (await site.connect(() => refusal)).call()).toEqual({ says: 'Cancelled.' });
    expect(await (await site.connectLegacy(() => refusal)).call()).toEqual({ says: 'Cancelled.' });
    expect(actions).toEqual([action, action]);
  },
);

test('what the handler throws is an error result', async () => {
  const site = new Site(
    tool(
      awaitShim(async (_args, ctx) => {
        await ctx.elicit('Which units?', Units);
        throw new Error('No longer.');
      }),
    ),
  );
  expect(await (await site.connect(() => metric)).call()).toEqual({ fails: 'No longer.' });
});

test('a client that cannot be asked is refused before the first line runs', async () => {
  const line = counted(() => {});
  const site = new Site(interview(line));
  const refused = {
    fails: 'This needs a client that can be asked, on a connection that can carry the question.',
  };
  expect(await (await site.connect(undefined, {})).send()).toEqual(refused);
  expect(line.runs).toBe(0);
});

test('state of another shape is no progress', async () => {
  const state = JSON.stringify({ s: 'once/1', q: { name: name.digest } });
  const site = new Site(tool(async () => inputRequired({ requestState: state })));
  const client = await site.connect();
  const asked = await client.send();
  site.deploy(
    tool(awaitShim(async (_args, ctx) => textResult((await ctx.elicit('Which name?', Name)).name))),
  );
  const again = await client.answer(asked, { name: ada });
  expect(again.asks).toEqual(NAME);
  expect(await client.answer(again, { name: ada })).toEqual({ says: 'Ada' });
});

test('a server that does not protect its request state is refused', async () => {
  const site = new Site(() => {});
  site.serve(() => {
    const server = new McpServer({ name: 'bare', version: '0' });
    interview(() => {})(server);
    return server;
  });
  expect(await (await site.connect()).send()).toEqual({
    fails: expect.stringContaining('on a server that does not protect it'),
  });
});

test('prompts and resources work as badly; a refusal there is a JSON-RPC error', async () => {
  const line = counted(() => {});
  const ask = async (ctx: AwaitShimContext) => {
    line();
    return (await ctx.elicit('Which name?', Name)).name;
  };
  const site = new Site((server) => {
    const prompt = awaitShim(async (_args: object, ctx) => ({
      messages: [{ role: 'user', content: { type: 'text', text: await ask(ctx) } }],
    }));
    server.registerPrompt('prompt', { argsSchema: z.object({}) }, prompt);
    const resource = awaitShim(async (uri: URL, ctx) => ({
      contents: [{ uri: uri.href, text: await ask(ctx) }],
    }));
    server.registerResource('resource', 'test://resource', {}, resource);
  });
  const client = await site.connect();
  for (const method of ['prompt', 'resource'] as const) {
    const { asks, state } = await client[method]();
    expect(asks).toEqual(NAME);
    expect(await client[method]({ inputResponses: { name: ada }, requestState: state })).toEqual({
      says: 'Ada',
    });
    expect(await client[method]({ inputResponses: { name: decline }, requestState: state })).toEqual({
      rejects: 'Cancelled.',
    });
  }
  const mute = await site.connect(undefined, {});
  expect(await mute.prompt()).toEqual({
    rejects: expect.stringMatching(/^This needs a client that can be asked/),
  });
  expect(line.runs).toBe(6);
});
