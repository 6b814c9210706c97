/**
 * The contract of all shapes, for handlers that the writers of `tools/matrix/src/outlines` write. If a shape differs in a
 * behaviour, it states its own behaviour instead. The contract's test still runs and must fail, so that no stale
 * difference remains.
 */

import {
  type CallToolResult,
  type GetPromptResult,
  inputRequired,
  McpServer,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import { loadOption } from '@mrtr/comparison/options';
import {
  approval,
  elicitation,
  listRoots,
  MemoryLedger,
  type Questions,
  type RequestStateOptions,
  requestStatePolicy,
  sampling,
  textResult,
  urlElicitation,
  words,
} from '@mrtr/core';
import { type Events, observe } from '@mrtr/core/events';
import type { CompleteResult } from '@mrtr/core/shape';
import { callerNamed } from '@mrtr/harness';
import { Deferred } from '@mrtr/harness/internal';
import { type AuthorContext, type Outline, type Writer, writerOf } from '@mrtr/matrix/outlines';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  accept,
  ada,
  type Caller,
  cancel,
  countRuns,
  decline,
  kelvin,
  metric,
  Name,
  name,
  type Register,
  type RoundSummary,
  TestDeployment,
  tool,
  Units,
  units,
} from '../../packages/shapes/src/fixture.test-support.ts';

interface Traits {
  /** The shape's name in events. */
  readonly name: string;
  /** Whether authors must put every effect below the questions. */
  readonly effectsBelow?: boolean;
}

/** A shape under contract. */
export type Shape = Traits & Writer;

/** Loads the writer of the option `id`, whose shape keeps the contract. */
export async function loadShape(id: string, traits: Traits): Promise<Shape> {
  const option = await loadOption(id);
  const store = option.openStore?.({ policy: requestStatePolicy() });
  afterAll(() => store?.close());
  return { ...traits, ...writerOf(option, { store }) };
}

const inputSchema = z.object({});

const outline = <R extends CompleteResult>(
  rounds: readonly Questions[],
  result: (text: string) => R,
): Outline<R> => ({
  steps: rounds.map((asks) => ({ asks })),
  end: (answers) => result(JSON.stringify(answers)),
  refused: (key) => result(`Cancelled: the question '${key}' was not answered.`),
});

/** A tool of the shape that asks `rounds` and returns the answers. */
const asking =
  (shape: Shape, rounds: readonly Questions[], over: Partial<Outline<CallToolResult>> = {}): Register =>
  (server) => {
    server.registerTool('tool', { inputSchema }, shape.write({ ...outline(rounds, textResult), ...over }));
  };

/** Serves that tool. `done` counts how often it got past its questions. */
function serve(
  shape: Shape,
  rounds: readonly Questions[],
  policy: RequestStateOptions = {},
  over: Partial<Outline<CallToolResult>> = {},
) {
  const done = countRuns(() => {});
  const end: Outline<CallToolResult>['end'] = (answers) => {
    done();
    return textResult(JSON.stringify(answers));
  };
  return { site: new TestDeployment(asking(shape, rounds, { end, ...over }), policy), done };
}

const prompt = (text: string): GetPromptResult => ({
  messages: [{ role: 'user', content: { type: 'text', text } }],
});
const resource = (text: string): ReadResourceResult => ({ contents: [{ uri: 'test://resource', text }] });

/** A prompt and a resource of the shape, which ask for a name. */
const promptAndResource =
  (shape: Shape): Register =>
  (server) => {
    const rounds = [{ name }];
    server.registerPrompt('prompt', { argsSchema: inputSchema }, shape.write(outline(rounds, prompt)));
    const read = shape.writeResource(outline(rounds, resource));
    server.registerResource('resource', 'test://resource', {}, read);
  };

type Request = Caller['prompt'];

async function asksForName(...requests: readonly Request[]) {
  for (const request of requests) {
    const { asks, state } = await request();
    expect(asks).toEqual({ name: WHICH_NAME });
    const answered = { inputResponses: { name: ada }, requestState: state };
    expect(await request(answered)).toEqual({ says: '{"name":{"name":"Ada"}}' });
  }
}

/** Hangs up while a tool pays, which then ends with `finish`. Returns what the retry gets. */
async function hangUpDuring(shape: Shape, finish: () => CallToolResult) {
  const [paying, gone] = [new Deferred(), new Deferred()];
  const pays = countRuns(() => paying.open());
  const end = async () => {
    pays();
    await gone.promise;
    return finish();
  };
  const once: RequestStateOptions = { singleUse: 'replay', ledger: new MemoryLedger() };
  const { site } = serve(shape, [{ name }], once, { end });
  const client = await site.connect();
  const asked = await client.send();
  const hangUp = new AbortController();
  const cut = client.answer(asked, { name: ada }, { signal: hangUp.signal });
  await paying.promise;
  hangUp.abort();
  expect(await cut).toHaveProperty('rejects');
  gone.open();
  return { again: await client.answer(asked, { name: ada }), pays };
}

/** The message that `onerror` gets when a question about units is not asked again. */
const gaveUp = (fields: string) =>
  expect.stringMatching(
    new RegExp(
      `No answer to '.*' fitted its form \\(${fields}\\), so it is not asked again\\. Its client may not`,
    ),
  );

/** Answers by message, because each shape chooses its own wire keys. */
function answer(client: Caller, asked: RoundSummary, byMessage: Readonly<Record<string, unknown>>) {
  const worded = Object.entries(asked.asks ?? {}).map(([key, message]) => [key, ownWords(message)] as const);
  const answered = worded.filter(([, message]) => Object.hasOwn(byMessage, message));
  return client.answer(
    asked,
    Object.fromEntries(answered.map(([key, message]) => [key, byMessage[message]])),
  );
}

const questionsIn = ({ asks }: RoundSummary) => (asks === undefined ? undefined : Object.values(asks));

const [WHICH_UNITS, WHICH_NAME] = [units.message, name.message];
/** The prompt for units after {@link kelvin}. */
const UNITS_AGAIN = `${WHICH_UNITS}\n\nThe last answer did not fit. “units”: “Invalid option: expected one of 'metric'|'imperial'”`;
/** The author's words of a prompt, without the reason why the last answer did not fit. */
const ownWords = (message: string) => message.split('\n\n')[0] ?? '';
const TWO_ROUNDS = [{ units }, { name }];
const BOTH = { says: '{"units":{"units":"metric"},"name":{"name":"Ada"}}' };
const user = (message: string) => (ownWords(message) === WHICH_UNITS ? metric : ada);

/** A question whose form has one field, with the question's name. */
const text = (key: string) => elicitation(`Question ${key}?`, z.object({ [key]: z.string() }));

/** Answers each question with its own message, and returns the outcome of the last round. */
async function answerAll(client: Caller): Promise<RoundSummary> {
  let seen = await client.send();
  while (seen.asks) {
    const responses = Object.entries(seen.asks).map(([key, message]) => {
      const field = message.slice('Question '.length, -1);
      return [key, accept({ [field]: message })];
    });
    seen = await client.answer(seen, Object.fromEntries(responses));
  }
  return seen;
}

const behaviours = {
  async 'a server that does not protect its state is rejected before anything runs'(shape) {
    const above = countRuns(() => {});
    const { site, done } = serve(shape, [], {}, { above });
    site.serve(() => {
      const server = new McpServer({ name: 'bare', version: '0' });
      asking(shape, [], { above })(server);
      return server;
    });
    expect(await (await site.connect()).send()).toEqual({
      fails: expect.stringContaining('Call protectRequestState(server, policy) on the new McpServer'),
    });
    expect([above.runs, done.runs]).toEqual([0, 0]);
  },

  async 'a prompt and a resource ask as a tool does, also without arguments'(shape) {
    const client = await new TestDeployment(promptAndResource(shape)).connect();
    await asksForName(client.prompt.bind(client), client.resource.bind(client));
    const both = outline([{ name }], (text) => ({ ...textResult(text), ...prompt(text) }));
    const bare = await new TestDeployment((server) => {
      // Without a cast: a shape's callback has the SDK's type for both.
      server.registerTool('tool', {}, shape.write(both));
      server.registerPrompt('prompt', {}, shape.write(both));
    }).connect();
    await asksForName(bare.send.bind(bare), bare.prompt.bind(bare));
  },

  async 'an old client is asked over its connection, and asked again after an answer that does not fit'(
    shape,
  ) {
    const client = await serve(shape, TWO_ROUNDS).site.connectLegacy((message) =>
      client.questions.length === 1 ? kelvin : user(message),
    );
    expect(await client.call()).toEqual(BOTH);
    expect(client.questions).toEqual([WHICH_UNITS, UNITS_AGAIN, WHICH_NAME]);
  },

  async 'state of another shape, or of another version, is rejected, and nothing runs'(shape) {
    const record = { units: [units.digest, metric] };
    const parts = { a: record, e: record, d: record, c: { id: 'x' }, j: { units: ['ask', ...record.units] } };
    const states = [`${shape.name}/0`, 'another/1', undefined].map((s) => JSON.stringify({ s, ...parts }));
    for (const requestState of [...states, '', 'null', '[]', '{"s":']) {
      const site = new TestDeployment(tool(async () => inputRequired({ requestState })));
      const client = await site.connect();
      const left = await client.send();
      const above = countRuns(() => {});
      site.deploy(asking(shape, TWO_ROUNDS, { above }));
      const { rejects } = await client.answer(left, {});
      expect(rejects ?? 'no rejection').toMatch(/Invalid or expired requestState/);
      expect(above.runs).toBe(0);
    }
  },

  async 'a question that is reworded while it is out is asked again'(shape) {
    const wider = z.object({ units: z.enum(['metric', 'imperial', 'nautical']) });
    for (const reworded of [elicitation('Celsius or Fahrenheit?', Units), elicitation(WHICH_UNITS, wider)]) {
      const { site } = serve(shape, TWO_ROUNDS);
      const client = await site.connect();
      const first = await client.send();
      site.deploy(asking(shape, [{ units: reworded }, { name }]));
      const again = await client.answer(first, { units: metric });
      expect(again.asks).toEqual({ units: reworded.message });
      expect((await client.answer(again, { units: metric })).asks).toEqual({ name: WHICH_NAME });
    }
  },

  async 'a question without an answer that fits is asked again, and the call does not end'(shape) {
    const client = await serve(shape, TWO_ROUNDS, { limits: { rounds: 100 } }).site.connect();
    const finish = async (asked: RoundSummary) => {
      const second = await client.answer(asked, { units: metric });
      const still = await client.answer(second, {});
      expect(still.asks).toEqual({ name: WHICH_NAME });
      expect(await client.answer(still, { name: ada })).toEqual(BOTH);
    };
    // None of these is an answer, so each is asked again in the same words, and none counts.
    let asked = await client.send();
    for (const responses of [{}, ...[null, 42, 'text', []].map((units) => ({ units }))]) {
      asked = await client.answer(asked, responses);
      expect(asked.asks).toEqual({ units: WHICH_UNITS });
    }
    await finish(asked);
    // These are answers, so the second prompt says why.
    const unfit = `${WHICH_UNITS}\n\nThe last answer did not fit.`;
    const odd: [unknown, string][] = [
      [{}, unfit],
      [{ action: 'shrug' }, unfit],
      [{ roots: [] }, unfit],
      [{ action: 'accept' }, `${WHICH_UNITS}\n\nThe form came back empty.`],
      [kelvin, UNITS_AGAIN],
    ];
    for (const [answer, prompt] of odd) {
      const again = await client.answer(await client.send(), { units: answer });
      expect(again.asks).toEqual({ units: prompt });
      await finish(again);
    }
  },

  async 'the third answer in a row that does not fit ends the call, and the operator hears once'(shape) {
    const errors: string[] = [];
    const onerror = (error: Error) => void errors.push(error.message);
    const { site, done } = serve(shape, TWO_ROUNDS, { onerror });
    const ends = {
      fails: expect.stringMatching(
        /^No answer to the question 'units' fitted, so it is not asked again\. .*'metric'/,
      ),
    };
    const prompts = [WHICH_UNITS, UNITS_AGAIN, UNITS_AGAIN];
    const seen: unknown[] = [];
    const client = await site.connect();
    let asked = await client.send();
    for (let answers = 0; asked.asks; answers++) {
      seen.push(...Object.values(asked.asks));
      // A retry without an answer does not start the count anew.
      if (answers === 2) asked = await client.answer(asked, {});
      asked = await client.answer(asked, { units: kelvin });
    }
    expect(asked).toEqual(ends);
    expect(seen).toEqual(prompts);
    const old = await site.connectLegacy(() => kelvin);
    expect(await old.call()).toEqual(ends);
    expect(old.questions).toEqual(prompts);
    expect(done.runs).toBe(0);
    expect(errors).toEqual(Array(2).fill(gaveUp('units: choice')));
  },

  async 'a form that comes back empty twice ends the call, which says that it may not be shown'(shape) {
    const errors: string[] = [];
    const onerror = (error: Error) => void errors.push(error.message);
    const { site, done } = serve(shape, TWO_ROUNDS, { onerror });
    const ends = {
      fails:
        'The client accepted this form without filling it in, so it is not asked again. It may not be able to show it.',
    };
    for (const empty of [accept({}), { action: 'accept' as const }]) {
      const client = await site.connect();
      const again = await client.answer(await client.send(), { units: empty });
      expect(again.asks).toEqual({ units: expect.stringContaining('\n\nThe form came back empty.') });
      expect(await client.answer(again, { units: empty })).toEqual(ends);
      const old = await site.connectLegacy(() => empty);
      expect(await old.call()).toEqual(ends);
      expect(old.questions).toHaveLength(2);
    }
    expect(done.runs).toBe(0);
    expect(errors).toEqual(Array(4).fill(gaveUp('units: choice')));
  },

  async 'a prompt and a resource whose answers do not fit end with a JSON-RPC error that says so'(shape) {
    const client = await new TestDeployment(promptAndResource(shape)).connect();
    for (const method of ['prompt', 'resource'] as const) {
      let asked = await client[method]();
      while (asked.asks)
        asked = await client[method]({ inputResponses: { name: accept({}) }, requestState: asked.state });
      expect(asked).toEqual({ rejects: expect.stringContaining('accepted this form without filling it in') });
    }
  },

  async 'a question with a fallback takes it instead, and keeps it in later rounds'(shape) {
    const errors: string[] = [];
    const onerror = (error: Error) => void errors.push(error.message);
    const lazily = elicitation(WHICH_UNITS, Units, { fallback: { units: 'imperial' } });
    const named = elicitation(WHICH_NAME, Name, { fallback: { name: 'Bob' } });
    const { site } = serve(shape, [{ units: lazily }, { name: named }], { onerror });
    const says = { says: '{"units":{"units":"imperial"},"name":{"name":"Bob"}}' };
    const client = await site.connect();
    let asked = await client.send();
    for (const last of [kelvin, kelvin, kelvin]) asked = await client.answer(asked, { units: last });
    expect(asked.asks).toEqual({ name: WHICH_NAME });
    for (const last of [accept({}), accept({})]) asked = await client.answer(asked, { name: last });
    expect(asked).toEqual(says);
    const old = await site.connectLegacy(() => accept({}));
    expect(await old.call()).toEqual(says);
    expect(old.questions).toHaveLength(4);
    // Once per call, although each has given up two questions.
    expect(errors).toEqual([gaveUp('units: choice'), gaveUp('units: choice')]);
  },

  async 'any two different keys name two questions'(shape) {
    const plain = ['constructor', 'toString', 'a b', 'a.b', 'a\\.b', 'ключ ☂', '0'];
    const keys = [...plain, 'k'.repeat(999)];
    const questions = (last: string) => [...keys, last].map((key) => ({ [key]: text(key) }));
    const client = await serve(shape, questions('last'), { limits: { rounds: 100 } }).site.connect();
    const expected = [...keys, 'last'].map((key) => [key, { [key]: `Question ${key}?` }]);
    expect(JSON.parse((await answerAll(client)).says ?? '')).toEqual(Object.fromEntries(expected));
  },

  // The SDK's parsers drop an answer of this name.
  async 'a question under the key `__proto__` is rejected before it goes out'(shape) {
    const { site, done } = serve(shape, [{ ['__proto__']: text('proto') }]);
    expect(await (await site.connect()).send()).toEqual({
      fails: expect.stringContaining("A question cannot have the key '__proto__'"),
    });
    expect(done.runs).toBe(0);
  },

  async 'fields beyond the form reach neither the handler nor the state'(shape) {
    // A schema that accepts everything, with the form of another one.
    const standard = { ...Units['~standard'], validate: (value: unknown) => ({ value }) };
    const loose = elicitation(WHICH_UNITS, { '~standard': standard } as typeof Units);
    const client = await serve(shape, [{ units: loose }, { name }]).site.connect();
    const clean = await client.answer(await client.send(), { units: metric });
    const more = { units: 'metric', admin: true, junk: '.'.repeat(1000) };
    const extra = { ...accept(more), _meta: { 'x/y': 1 }, also: 1 };
    const second = await client.answer(await client.send(), { units: extra });
    expect(second.state).toHaveLength(clean.state?.length ?? 0);
    expect(await client.answer(second, { name: ada })).toEqual(BOTH);
  },

  async 'a round that is sent twice is served twice, with the same result'(shape) {
    const client = await serve(shape, TWO_ROUNDS).site.connect();
    const first = await client.send();
    const send = () => client.answer(first, { units: metric });
    const [second, other] = [await send(), await send()];
    expect([questionsIn(second), questionsIn(other)]).toEqual([[WHICH_NAME], [WHICH_NAME]]);
    const finish = (asked: RoundSummary) => client.answer(asked, { name: ada });
    expect([await finish(second), await finish(second), await finish(other)]).toEqual([BOTH, BOTH, BOTH]);
  },

  async 'a client without the capability gets an error that names it, and nothing below the question runs'(
    shape,
  ) {
    const { site, done } = serve(shape, TWO_ROUNDS);
    expect(await (await site.connect(undefined, {})).send()).toEqual({
      lacks: { elicitation: expect.anything() },
    });
    expect(await (await site.connectLegacy()).call()).toEqual({
      fails: expect.stringMatching(/elicitation/),
    });
    expect(done.runs).toBe(0);
  },

  async 'an old client that the policy does not ask gets an error that says why'(shape) {
    const client = await serve(shape, TWO_ROUNDS, { legacy: 'degrade' }).site.connectLegacy(user);
    expect(await client.call()).toEqual({ fails: expect.stringMatching(/a client that can be asked/) });
    expect(client.questions).toEqual([]);
  },

  async 'a client that cannot be asked is rejected before any effect, in each era and in each round'(shape) {
    const above = countRuns(() => {});
    const over = { above, asks: shape.effectsBelow ? undefined : (['elicitation'] as const) };
    const once: RequestStateOptions = { singleUse: 'replay', ledger: new MemoryLedger() };
    const { site, done } = serve(shape, TWO_ROUNDS, once, over);
    const effects = () => (shape.effectsBelow ? done : above).runs;
    const rejected = { lacks: { elicitation: { form: {} } } };
    const pagesOnly = await site.connect(undefined, { elicitation: { url: {} } });
    expect(await pagesOnly.send()).toEqual(rejected);
    const fails = {
      fails: expect.stringContaining('needs a client that can be asked (elicitation), on a con'),
    };
    expect(await (await site.connectLegacy()).call()).toEqual(fails);
    const unheld = serve(shape, TWO_ROUNDS, { legacy: 'degrade' }, over).site;
    expect(await (await unheld.connectLegacy(user)).call()).toEqual(fails);
    expect(effects()).toBe(0);
    const client = await site.connect();
    const first = await client.send();
    const before = effects();
    expect(await pagesOnly.answer(first, { units: metric })).toEqual(rejected);
    expect(effects()).toBe(before);
    // The rejected request has not used up the token.
    const second = await client.answer(first, { units: metric });
    expect(await client.answer(second, { name: ada })).toEqual(BOTH);
  },

  async '`fallback` stands in for a client that cannot be asked, and for no other'(shape) {
    const fallback = elicitation(WHICH_UNITS, Units, { fallback: { units: 'imperial' } });
    const { site } = serve(shape, [{ units: fallback }]);
    const imperial = { says: '{"units":{"units":"imperial"}}' };
    expect(await (await site.connect(undefined, {})).send()).toEqual(imperial);
    expect(await (await site.connectLegacy()).call()).toEqual(imperial);
    expect((await (await site.connect()).send()).asks).toEqual({ units: WHICH_UNITS });

    // The client of each round counts.
    const later = serve(shape, [{ name }, { units: fallback }]).site;
    const asked = await (await later.connect()).send();
    expect(await (await later.connect(undefined, {})).answer(asked, { name: ada })).toEqual({
      says: '{"name":{"name":"Ada"},"units":{"units":"imperial"}}',
    });
  },

  async 'an old client that has no handler for its elicitation gets the `fallback`, or an error that says why'(
    shape,
  ) {
    const call = async (rounds: readonly Questions[], over = {}) => {
      const { site, done } = serve(shape, rounds, {}, over);
      const client = await site.connectLegacy(undefined, { elicitation: {} });
      return [await client.call(), done.runs];
    };
    const imperial = elicitation(WHICH_UNITS, Units, { fallback: { units: 'imperial' } });
    const nobody = elicitation(WHICH_NAME, Name, { fallback: { name: 'Nobody' } });
    const says = '{"units":{"units":"imperial"},"name":{"name":"Nobody"}}';
    expect(await call([{ units: imperial }, { name: nobody }])).toEqual([{ says }, 1]);
    const fails = expect.stringMatching(/a client that can be asked|has no handler for it/);
    expect(await call(TWO_ROUNDS)).toEqual([{ fails }, 0]);
    expect(await call(TWO_ROUNDS, { asks: ['elicitation'] })).toEqual([{ fails }, 0]);
    expect(await call([{ units: imperial }, { name }])).toEqual([{ fails }, 0]);
  },

  async 'a refusal ends the call politely, before anything below the question'(shape) {
    for (const refusal of [decline, cancel]) {
      const { site, done } = serve(shape, [{ units }]);
      expect(await (await site.connect(() => refusal)).call()).toEqual({
        says: "Cancelled: the question 'units' was not answered.",
      });
      expect(await (await site.connectLegacy(() => refusal)).call()).toEqual({
        says: "Cancelled: the question 'units' was not answered.",
      });
      expect(done.runs).toBe(0);
    }
  },

  async 'a refusal ends a prompt and a resource with a JSON-RPC error'(shape) {
    const client = await new TestDeployment(promptAndResource(shape)).connect();
    for (const method of ['prompt', 'resource'] as const) {
      for (const refusal of [decline, cancel]) {
        const { state } = await client[method]();
        const round = { inputResponses: { name: refusal }, requestState: state };
        expect(await client[method](round)).toEqual({ rejects: expect.any(String) });
      }
    }
  },

  async 'several questions of one round may be answered one by one'(shape) {
    const client = await serve(shape, [{ units, name, more: text('more') }]).site.connect();
    const first = await client.send();
    expect(questionsIn(first)).toEqual([WHICH_UNITS, WHICH_NAME, 'Question more?']);
    const second = await answer(client, first, { [WHICH_UNITS]: kelvin, [WHICH_NAME]: ada });
    expect(questionsIn(second)).toEqual([UNITS_AGAIN, 'Question more?']);
    const third = await answer(client, second, { 'Question more?': accept({ more: 'yes' }) });
    expect(questionsIn(third)).toEqual([WHICH_UNITS]);
    const { says } = await answer(client, third, { [WHICH_UNITS]: metric });
    const answers = { units: { units: 'metric' }, name: { name: 'Ada' }, more: { more: 'yes' } };
    expect(JSON.parse(says ?? '')).toEqual(answers);
  },

  async 'a handler asks the client’s model and for its roots as it asks the user'(shape) {
    const questions = { title: sampling({ messages: [], maxTokens: 9 }), roots: listRoots(), units };
    const { site } = serve(shape, [questions]);
    const client = await site.connect(undefined, { elicitation: {}, sampling: {}, roots: {} });
    const asked = await client.send();
    expect(questionsIn(asked)).toEqual(['sampling/createMessage', 'roots/list', WHICH_UNITS]);
    const title = { role: 'assistant', content: { type: 'text', text: 'Storms' }, model: 'm' };
    const roots = { roots: [{ uri: 'file:///home' }] };
    const good = { 'sampling/createMessage': title, 'roots/list': roots };
    const again = await answer(client, asked, { ...good, [WHICH_UNITS]: kelvin });
    expect(questionsIn(again)).toEqual([UNITS_AGAIN]);
    const { says } = await answer(client, again, { [WHICH_UNITS]: metric });
    expect(JSON.parse(says ?? '')).toEqual({ title, roots, units: { units: 'metric' } });
  },

  async 'idempotency keys are the same in all rounds of a call, wherever and however often one is presented'(
    shape,
  ) {
    const keys: unknown[] = [];
    const note = (ctx?: AuthorContext) => void keys.push(ctx?.idempotencyKey('pay'));
    const end: Outline<CallToolResult>['end'] = (_answers, ctx) => {
      note(ctx);
      return textResult(ctx?.idempotencyKey('mail') ?? '');
    };
    // Two instances, which share their keys.
    const connect = () => serve(shape, TWO_ROUNDS, {}, { above: note, end }).site.connect();
    const [client, elsewhere] = [await connect(), await connect()];
    const first = await client.send();
    const second = await elsewhere.answer(first, { units: metric });
    await client.answer(first, { units: metric });
    const { says } = await client.answer(second, { name: ada });
    await client.answer(second, { name: ada });
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys)).toEqual(new Set([expect.stringMatching(/^[\w-]{22}$/)]));
    expect(says).not.toBe(keys[0]);
    await client.send();
    expect(new Set(keys).size).toBe(2);
  },

  async 'the context says who can be asked and who sent each round, without the token, and reports progress'(
    shape,
  ) {
    const [reported, callers]: [unknown[], unknown[]] = [[], []];
    const above = (ctx?: AuthorContext) => {
      reported.push(ctx?.canAsk('elicitation'), ctx?.canAsk('roots'), ctx?.signal.aborted);
      callers.push(ctx?.caller);
      void ctx?.progress(1, 2, 'half');
    };
    const end: Outline<CallToolResult>['end'] = (_answers, ctx) => {
      callers.push(ctx?.caller);
      return textResult('');
    };
    const { site } = serve(shape, [{ units }], {}, { above, end });
    const client = await site.connect();
    site.caller = callerNamed('ada');
    const asked = await client.send({}, { onprogress: (progress) => void reported.push(progress) });
    expect(reported).toEqual([true, false, false, { progress: 1, total: 2, message: 'half' }]);
    site.caller = { ...callerNamed('ada'), scopes: ['pay'] };
    await client.answer(asked, { units: metric });
    const signedIn = { clientId: 'app', scopes: [], extra: { sub: 'ada' } };
    expect([callers[0], callers.at(-1)]).toEqual([signedIn, { ...signedIn, scopes: ['pay'] }]);
  },

  async 'what a handler returns after its client hung up is kept for the retry'(shape) {
    const { again, pays } = await hangUpDuring(shape, () => textResult('Paid.'));
    expect(again).toEqual({ says: 'Paid.' });
    expect(pays.runs).toBe(1);
  },

  async 'a handler that throws after its client hung up is not entered again, and the retry hears that'(
    shape,
  ) {
    const { again, pays } = await hangUpDuring(shape, () => {
      throw new Error('The bank did not answer.');
    });
    expect(again).toEqual({ fails: expect.stringContaining('its outcome is unknown') });
    expect(pays.runs).toBe(1);
  },

  async 'a page to open is asked as a form is, and only of clients that open pages'(shape) {
    const terms = urlElicitation('Read the terms.', 'https://shop.example/terms');
    const opens = { elicitation: { url: {} } };
    const agreed = { says: '{"terms":true}' };
    const { site, done } = serve(shape, [{ terms }]);
    const client = await site.connect(undefined, opens);
    const asked = await client.send();
    expect(asked.asks).toEqual({ terms: 'Read the terms.' });
    expect(await client.answer(asked, { terms: accept({}) })).toEqual(agreed);
    expect(await (await site.connectLegacy(() => ({ action: 'accept' }), opens)).call()).toEqual(agreed);
    expect(await client.answer(await client.send(), { terms: decline })).not.toHaveProperty('asks');
    // A client that declares forms only.
    expect(await (await site.connect()).send()).toEqual({ lacks: { elicitation: { url: {} } } });
    expect(await (await site.connectLegacy(user)).call()).toEqual({
      fails: expect.stringContaining('elicitation.url'),
    });
    expect(done.runs).toBe(2);
    const unread = urlElicitation('Read the terms.', 'https://shop.example/terms', { fallback: false });
    expect(await (await serve(shape, [{ terms: unread }]).site.connect()).send()).toEqual({
      says: '{"terms":false}',
    });
  },

  async 'an approval counts, and its receipt stays the same in later rounds'(shape) {
    const sure = approval(words`Pay ${'Ada'}?`, { approve: 'Pay', refuse: 'Do not pay' });
    const approvals: Events['mrtr:approval'][] = [];
    onTestFinished(observe('mrtr:approval', (event) => approvals.push(event)));
    let now = Date.now();
    const { site, done } = serve(shape, [{ sure }, { name }], { now: () => now });
    const client = await site.connect();
    const asked = await client.answer(await client.send(), { sure: accept({}) });
    const empty = 'The form came back empty. “Nothing was chosen that approves or refuses.”';
    expect(asked.asks).toEqual({ sure: `Pay “Ada”?\n\n${empty}` });
    now += 5000;
    const second = await client.answer(asked, { sure: accept({ decision: 'approve' }) });
    now += 5000;
    const { says } = await client.answer(second, { name: ada });
    expect(approvals.map(({ outcome }) => outcome)).toEqual(['invalid', 'approved']);
    const receipt = approvals[1]?.receipt;
    expect(JSON.parse(says ?? '')).toEqual({ sure: { approved: true, receipt }, name: { name: 'Ada' } });
    expect(receipt).toMatchObject({ assurance: 'form', tool: 'tool', call: approvals[1]?.call });
    expect((receipt?.answeredAt ?? 0) - (receipt?.askedAt ?? 0)).toBe(5);
    const refused = await client.answer(await client.send(), { sure: accept({ decision: 'refuse' }) });
    expect(refused).not.toHaveProperty('asks');
    expect(done.runs).toBe(1);
  },

  async 'each event of a call carries its id, and an entry names the shape'(shape) {
    const events: { readonly call?: string | undefined; readonly shape?: string | undefined }[] = [];
    const shapes = new Set<unknown>();
    for (const channel of ['mrtr:round', 'mrtr:handler', 'mrtr:ask', 'mrtr:effect', 'mrtr:state'] as const) {
      onTestFinished(observe(channel, (event) => events.push(event)));
    }
    onTestFinished(observe('mrtr:handler', ({ shape, target }) => shapes.add(`${shape} ${target}`)));
    expect(await (await serve(shape, TWO_ROUNDS).site.connect(user)).call()).toEqual(BOTH);
    expect(new Set(events.map(({ call }) => call)).size).toBe(1);
    expect([...shapes]).toEqual([`${shape.name} tool`]);
  },

  async 'an error that the handler throws is an error result, in the first round and after an answer'(shape) {
    const fail = () => {
      throw new Error('No such thing.');
    };
    for (const rounds of [[], [{ units }]]) {
      const client = await serve(shape, rounds, {}, { end: fail }).site.connect(() => metric);
      expect(await client.call()).toEqual({ fails: 'No such thing.' });
    }
  },
} satisfies Readonly<Record<string, (shape: Shape) => Promise<void>>>;

/** A behaviour of the contract, by its title. */
type Behaviour = keyof typeof behaviours;

/** Passes only if an assertion fails: any other error is a fault of the behaviour's test. */
async function mustDiffer(behave: () => unknown): Promise<void> {
  const failure = await Promise.resolve()
    .then(behave)
    .catch((error: unknown) => error);
  expect(failure).toHaveProperty('name', 'AssertionError');
}

/**
 * Adopts the contract.
 *
 * @param instead the behaviours in which the shape differs, with its own behaviour.
 */
export function shapeContract(
  shape: Shape,
  instead: Readonly<Partial<Record<Behaviour, string>>> = {},
): void {
  describe(`${shape.name} as every shape`, () => {
    for (const [title, behaviour] of Object.entries(behaviours)) {
      const difference = instead[title as Behaviour];
      if (difference === undefined) test(title, () => behaviour(shape));
      else test(`NOT ${title}: ${difference}`, () => mustDiffer(() => behaviour(shape)));
    }
  });
}
