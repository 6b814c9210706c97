/** What breaks if the client lies, a deploy changes a question, or an answer comes in the wrong round? */
import { inputRequired, textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  Args,
  accept,
  ada,
  units as asUnits,
  cancel,
  counted,
  decline,
  kelvin,
  metric,
  Name,
  type Register,
  Site,
  tool,
  Units,
} from '../fixture.test-support.ts';
import {
  argument,
  elicit,
  injected,
  listRoots,
  outcome,
  type Resolvable,
  requestContext,
  resolver,
} from '../resolve.ts';

const imperial = accept({ units: 'imperial' });
const units = resolver('units', {}, () => elicit('Which units?', Units));
const name = resolver('name', { units: outcome(units) }, () => elicit('Which name?', Name));
const UNITS = { units: 'Which units?' };
const NAME = { name: 'Which name?' };

const says = (params: Readonly<Record<string, Resolvable>>): Register =>
  tool(injected(Args, params, (args) => textResult(JSON.stringify(args))));

/** Two rounds: units, then a name. */
const interview = says({ units: outcome(units), name: outcome(name) });
const BOTH =
  '{"units":{"kind":"accepted","value":{"units":"metric"}},"name":{"kind":"accepted","value":{"name":"Ada"}}}';

// Lies

test('an answer to a question that was not asked is not consumed, in the first round or later', async () => {
  const client = await new Site(interview).connect();
  const first = await client.send({ inputResponses: { units: imperial, name: ada } });
  expect(first.asks).toEqual(UNITS);
  const second = await client.answer(first, { units: metric, name: accept({ name: 'Eve' }), other: ada });
  expect(second.asks).toEqual(NAME);
  expect(await client.answer(second, { name: ada })).toEqual({ says: BOTH });
});

test('an answer that comes without the state is asked for again', async () => {
  const client = await new Site(interview).connect();
  await client.send();
  expect((await client.send({ inputResponses: { units: metric } })).asks).toEqual(UNITS);
});

test('an answer changes nothing that was settled in an earlier round', async () => {
  const client = await new Site(interview).connect();
  const second = await client.answer(await client.send(), { units: metric });
  expect(await client.answer(second, { units: imperial, name: ada })).toEqual({ says: BOTH });
});

test('nothing that comes back can stand in for what a resolver computes', async () => {
  const computed = resolver('computed', { name }, ({ name }) => name.name.length);
  const site = new Site(says({ computed }));
  const client = await site.connect();
  const forged = { computed: accept({ name: 'forged' }), 'computed.value': 42 };
  const first = await client.send({ inputResponses: forged });
  const second = await client.answer(first, { ...forged, units: metric });
  expect(await client.answer(second, { ...forged, name: ada })).toEqual({ says: '{"computed":3}' });
});

test('an answer counts only while its resolver still asks', async () => {
  const asking = resolver('which', {}, () => elicit('Which units?', Units));
  const computing = resolver('which', {}, () => ({ units: 'metric' as const }));
  const site = new Site(says({ which: asking, name }));
  const client = await site.connect();
  const first = await client.send();
  site.deploy(says({ which: computing, name }));
  const second = await client.answer(first, { which: imperial, units: metric });
  expect(await client.answer(second, { name: ada })).toEqual({
    says: '{"which":{"units":"metric"},"name":{"name":"Ada"}}',
  });
});

test.each([
  [null],
  [42],
  ['text'],
  [[]],
  [{}],
  [{ action: 'shrug' }],
  [{ action: 'accept' }],
  [kelvin],
  [{ roots: [] }],
])('an answer like %j is asked again, and the good one beside it is not', async (response) => {
  const site = new Site(says({ units, other: resolver('other', {}, () => elicit('Which name?', Name)) }));
  const client = await site.connect();
  const again = await client.answer(await client.send(), { units: response, other: ada });
  expect(again.asks).toEqual(UNITS);
  expect(await client.answer(again, { units: metric })).toEqual({
    says: '{"units":{"units":"metric"},"other":{"name":"Ada"}}',
  });
});

test('resolvers are told apart by any name, and an inherited one finds no answer', async () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', '', 'a b', '0'];
  const params = Object.fromEntries(
    names.map((key) => [`p ${key}`, resolver(key, {}, () => elicit(`${key}?`, Name))]),
  );
  const client = await new Site(says(params)).connect();
  const asked = await client.send();
  expect(asked.asks).toEqual(Object.fromEntries(names.map((key) => [key, `${key}?`])));
  const responses = Object.fromEntries(names.map((key) => [key, accept({ name: `is ${key}` })]));
  expect(JSON.parse((await client.answer(asked, responses)).says ?? '')).toEqual(
    Object.fromEntries(names.map((key) => [`p ${key}`, { name: `is ${key}` }])),
  );
});

// State

test('only asked outcomes ride in the state: pinned, pruned, and none of what is computed', async () => {
  const states: unknown[] = [];
  const watching = resolver('watching', { ctx: requestContext() }, ({ ctx }) => {
    states.push(JSON.parse(ctx.mcpReq.requestState<string>() ?? 'null'));
    return 'a secret';
  });
  const last = resolver('last', { name: outcome(name), watching }, () => elicit('Anything else?', Name));
  const client = await new Site(says({ last, units })).connect();
  const first = await client.send();
  const extra = { ...accept({ units: 'metric', admin: true }), _meta: { 'x/y': 1 }, more: 1 };
  const second = await client.answer(first, { units: extra });
  const third = await client.answer(second, { name: { ...decline, content: { name: 'Eve' } } });
  await client.answer(third, { last: ada });
  const digest = expect.stringMatching(/^[\w-]{8}$/);
  const a = { units: [digest, { action: 'accept', content: { units: 'metric' } }] };
  expect(states).toEqual([
    null,
    { s: 'resolve/1', q: { units: digest } },
    { s: 'resolve/1', q: { name: digest }, a },
    { s: 'resolve/1', q: { last: digest }, a: { ...a, name: [digest, { action: 'decline' }] } },
  ]);
});

test.each([
  ['declined', decline],
  ['cancelled', cancel],
])('that a question was %s is remembered', async (kind, response) => {
  const client = await new Site(interview).connect();
  const second = await client.answer(await client.send(), { units: response });
  expect(second.asks).toEqual(NAME);
  expect(await client.answer(second, { name: ada })).toEqual({
    says: `{"units":{"kind":"${kind}"},"name":{"kind":"accepted","value":{"name":"Ada"}}}`,
  });
});

test('state that another shape left is no progress', async () => {
  const requestState = JSON.stringify({ s: 'once/1', q: { units: asUnits.digest } });
  const site = new Site(tool(async () => inputRequired({ requestState })));
  const client = await site.connect();
  const left = await client.send();
  site.deploy(interview);
  expect((await client.answer(left, { units: metric })).asks).toEqual(UNITS);
});

// Deploys

test.each([
  ['message', () => elicit('Celsius or Fahrenheit?', Units), 'Celsius or Fahrenheit?'],
  [
    'form',
    () => elicit('Which units?', z.object({ units: z.enum(['metric', 'imperial', 'old']) })),
    'Which units?',
  ],
])(
  'a question whose %s changed is asked again, whether it was open or answered long ago',
  async (_what, ask, message) => {
    const reworded = resolver('units', {}, ask);
    const named = resolver('name', { units: outcome(reworded) }, () => elicit('Which name?', Name));
    const other = says({ units: outcome(reworded), name: outcome(named) });
    const site = new Site(interview);
    const client = await site.connect();
    const first = await client.send();
    const second = await client.answer(first, { units: metric });
    site.deploy(other);
    expect((await client.answer(first, { units: metric })).asks).toEqual({ units: message });
    const third = await client.answer(second, { name: ada });
    expect(third.asks).toEqual({ units: message });
    expect(await client.answer(third, { units: metric })).toEqual({ says: BOTH });
  },
);

test('a question that depends on an argument is another question for another argument', async () => {
  const greeting = resolver('greeting', { n: argument<number>() }, ({ n }) => elicit(`Greeting ${n}?`, Name));
  const client = await new Site(says({ greeting })).connect();
  const asked = await client.send({ arguments: { n: 1 } });
  expect(asked.asks).toEqual({ greeting: 'Greeting 1?' });
  const other = { arguments: { n: 2 }, inputResponses: { greeting: ada }, requestState: asked.state };
  expect(await client.send(other)).toEqual({
    rejects: expect.stringContaining('Invalid or expired requestState'),
  });
});

test('a call that asks for more rounds than the cap ends with an error', async () => {
  const client = await new Site(interview, { maxRounds: 2 }).connect();
  expect(await client.answer(await client.send(), { units: kelvin })).toEqual({
    fails: 'This call still needs input after 2 rounds. Start it again.',
  });
});

// Authors

test('what a resolver does to an answer is not what the next round reads', async () => {
  const roots = resolver('roots', {}, () => listRoots());
  const shouted = resolver('shouted', { roots }, ({ roots }) => {
    for (const root of roots.roots) root.uri += '!';
    return roots.roots.map(({ uri }) => uri).join();
  });
  const sure = resolver('sure', { shouted }, ({ shouted }) => elicit(`Really ${shouted}?`, Name));
  const client = await new Site(says({ sure })).connect(undefined, { elicitation: {}, roots: {} });
  const second = await client.answer(await client.send(), { roots: { roots: [{ uri: 'file:///home' }] } });
  expect(second.asks).toEqual({ sure: 'Really file:///home!?' });
  expect(await client.answer(second, { sure: ada })).toEqual({ says: '{"sure":{"name":"Ada"}}' });
});

test('what a schema takes beyond its form reaches the body in no round', async () => {
  const standard = { ...Units['~standard'], validate: (value: unknown) => ({ value }) };
  const loose = resolver('loose', {}, () =>
    elicit('Which units?', { '~standard': standard } as typeof Units),
  );
  const seen: unknown[] = [];
  const next = resolver('next', { loose }, ({ loose }) => {
    seen.push(loose);
    return elicit('Which name?', Name);
  });
  const client = await new Site(says({ next })).connect();
  const second = await client.answer(await client.send(), {
    loose: accept({ units: 'metric', admin: true }),
  });
  await client.answer(second, { next: ada });
  expect(seen).toEqual([{ units: 'metric' }, { units: 'metric' }]);
});

test('of two failures one ends the call, and the other harms nobody', async () => {
  const failing = (at: number) =>
    resolver(`failing-${at}`, {}, async () => {
      throw new Error(`Failure ${at}.`);
    });
  const [one, two] = [failing(1), failing(2)];
  const both = resolver('both', { one, two }, () => 'never');
  const body = counted(() => textResult('never'));
  const client = await new Site(tool(injected(Args, { both, one, two }, body))).connect();
  expect(await client.send()).toEqual({ fails: 'Failure 1.' });
  expect(body.runs).toBe(0);
});
