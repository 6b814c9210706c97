/** What breaks if the handler is not what it was, the client lies, or something comes too late? */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { accept, ada, Gate, kelvin, metric, Name, Site, turns, Units } from '../fixture.test-support.ts';
import { type JournalContext, JournalDiverged } from '../journal.ts';
import { answerAll, connected, journaling } from './journaling.test-support.ts';

const askUnits = (ctx: JournalContext) => ctx.elicit('units', 'Which units?', Units);
const askName = (ctx: JournalContext) => ctx.elicit('name', 'Which name?', Name);

/** A step of a handler: an effect that is written down when it happens, or something else. */
type Step = (ctx: JournalContext, ran: string[]) => unknown;
const run =
  (key: string): Step =>
  (ctx, ran) =>
    ctx.run(key, () => ran.push(key));
const ask: Step = (ctx) => askUnits(ctx);
const next: Step = (ctx) => askName(ctx);
const ends: Step = () => Promise.reject(new Error('The end.'));
const now: Step = (ctx) => ctx.now('t');
const together =
  (...steps: readonly Step[]): Step =>
  (ctx, ran) =>
    Promise.all(steps.map((step) => step(ctx, ran)));

const sequence = (steps: readonly Step[], ran: string[]) => async (ctx: JournalContext) => {
  for (const step of steps) await step(ctx, ran);
};

// Divergence

const BEFORE = [run('a'), now, run('b'), ask, run('c'), next];

test.each<[what: string, after: readonly Step[], diverged: [key: string, recorded: string, came: string]]>([
  ['has a new effect in front', [run('x'), ...BEFORE], ['a', 'an effect', "step 'x'"]],
  [
    'has a new question in front',
    [(ctx) => ctx.elicit('x', 'x', Name), ...BEFORE],
    ['a', 'an effect', "step 'x'"],
  ],
  ['looks at a time more in front', [(ctx) => ctx.now(), ...BEFORE], ['a', 'an effect', "step 'now#1'"]],
  ['draws a number more in front', [(ctx) => ctx.random(), ...BEFORE], ['a', 'an effect', "step 'random#1'"]],
  [
    'has a new effect in between',
    [...BEFORE.slice(0, 3), run('x'), ...BEFORE.slice(3)],
    ['units', 'a question', "step 'x'"],
  ],
  ['has two new effects together', [together(run('x'), run('y')), ...BEFORE], ['a', 'an effect', "step 'y'"]],
  ['has an effect under another key', [run('A'), ...BEFORE.slice(1)], ['a', 'an effect', "step 'A'"]],
  ['misses an effect', [run('a'), now, ask, run('c'), next], ['b', 'an effect', "step 'name'"]],
  ['misses a time', [run('a'), run('b'), ask, run('c'), next], ['t', 'a time', "step 'name'"]],
  ['misses a question', [run('a'), now, run('b'), run('c'), next], ['units', 'a question', "step 'name'"]],
  ['misses the last step', [run('a'), now, run('b'), ask, next, run('x')], ['c', 'an effect', "step 'name'"]],
  ['misses everything', [], ['a', 'an effect', 'its end']],
  ['ends early', BEFORE.slice(0, 3), ['units', 'a question', 'its end']],
  ['throws early', [run('a'), ends], ['t', 'a time', 'its end']],
  [
    'asks where it ran',
    [(ctx) => ctx.elicit('a', 'a', Name), ...BEFORE.slice(1)],
    ['a', 'an effect', 'a question'],
  ],
  [
    'runs where it asked',
    [...BEFORE.slice(0, 3), run('units'), ...BEFORE.slice(4)],
    ['units', 'a question', 'an effect'],
  ],
  ['draws where it looked at the time', [run('a'), (ctx) => ctx.uuid('t')], ['t', 'a time', 'a UUID']],
  [
    'asks in other words',
    [...BEFORE.slice(0, 3), (ctx) => ctx.elicit('units', 'Celsius?', Units), run('x')],
    ['units', 'another question', '"Celsius?"'],
  ],
  [
    'asks with another form',
    [...BEFORE.slice(0, 3), (ctx) => ctx.elicit('units', 'Which units?', Name), run('x')],
    ['units', 'another question', '"Which units?"'],
  ],
  [
    'refuses an answer that it took',
    [
      ...BEFORE.slice(0, 3),
      (ctx) =>
        ctx.elicit(
          'units',
          'Which units?',
          Units.refine(() => false),
        ),
      run('x'),
    ],
    ['units', 'an answer', '"Which units?", which it does not fit'],
  ],
])(
  'a handler that since then %s stops before anything else executes',
  async (_what, after, [key, recorded, came]) => {
    const ran: string[] = [];
    const site = new Site(journaling(sequence(BEFORE, ran)));
    const client = await site.connect();
    const asked = await answerAll(client, { units: metric });
    expect(ran.splice(0)).toEqual(['a', 'b', 'c']);

    site.deploy(journaling(sequence(after, ran)));
    const { message } = new JournalDiverged(key, recorded, came);
    expect(await client.answer(asked, { name: ada })).toEqual({ fails: message });

    // Whatever the handler makes of it.
    const caught: unknown[] = [];
    const swallowing = (step: Step) => async (ctx: JournalContext) => {
      try {
        await step(ctx, ran);
      } catch (thrown) {
        if (thrown instanceof JournalDiverged) caught.push({ ...thrown });
      }
    };
    site.deploy(journaling(sequence([...after, run('z')].map(swallowing), ran)));
    const then = new JournalDiverged(key, recorded, came === 'its end' ? "step 'z'" : came);
    expect(await client.answer(asked, { name: ada })).toEqual({ fails: then.message });
    // Where it was not the last step that came to it, that one was stopped as well.
    expect(caught.length).toBeGreaterThan(came === 'its end' ? 0 : 1);
    expect(new Set(caught.map((thrown) => JSON.stringify(thrown)))).toEqual(new Set([JSON.stringify(then)]));
    expect(ran).toEqual([]);
  },
);

test.each<[what: string, after: readonly Step[], ran: readonly string[]]>([
  ['has a step after the last recorded one', [...BEFORE.slice(0, 5), run('x'), next, run('y')], ['x', 'y']],
  ['has a time after the last recorded one', [...BEFORE.slice(0, 5), (ctx) => ctx.now(), next], []],
  ['ends after the last recorded one', BEFORE.slice(0, 5), []],
  ['throws nothing away but the open question', [...BEFORE.slice(0, 5), run('x')], ['x']],
  ['takes recorded steps together', [together(run('b'), run('a'), now), together(ask, run('c')), next], []],
])('a handler that since then %s goes on', async (_what, after, expected) => {
  const ran: string[] = [];
  const site = new Site(journaling(sequence(BEFORE, ran)));
  const client = await site.connect();
  const asked = await answerAll(client, { units: metric });
  ran.length = 0;
  site.deploy(journaling(sequence(after, ran)));
  expect(await client.answer(asked, { name: ada })).toEqual({ says: 'nothing' });
  expect(ran).toEqual(expected);
});

test('an open question that was reworded is asked again', async () => {
  const site = new Site(journaling(askUnits));
  const client = await site.connect();
  const asked = await client.send();
  site.deploy(journaling((ctx) => ctx.elicit('units', 'Celsius or Fahrenheit?', Units)));
  const again = await client.answer(asked, { units: metric });
  expect(again.asks).toEqual({ units: 'Celsius or Fahrenheit?' });
  expect(await client.answer(again, { units: metric })).toEqual({ says: '{"units":"metric"}' });
});

// Clients

test('an answer to a question that was not asked, or has been answered, changes nothing', async () => {
  const client = await connected(async (ctx) => [await askUnits(ctx), await askName(ctx)]);
  const imperial = accept({ units: 'imperial' });
  const first = await client.send({ inputResponses: { units: imperial, name: ada } });
  expect(first.asks).toEqual({ units: 'Which units?' });
  const second = await client.answer(first, { units: metric, name: ada, 'now#1': ada, other: ada });
  expect(second.asks).toEqual({ name: 'Which name?' });
  expect(await client.answer(second, { units: imperial, name: ada })).toEqual({
    says: '[{"units":"metric"},{"name":"Ada"}]',
  });
});

test('an answer that comes without the state starts the call anew', async () => {
  const client = await connected(askUnits);
  await client.send();
  expect((await client.send({ inputResponses: { units: metric } })).asks).toEqual({ units: 'Which units?' });
});

test.each([[null], [42], ['text'], [[]], [{}], [{ action: 'shrug' }], [{ action: 'accept' }], [kelvin]])(
  'an answer like %j is asked again',
  async (response) => {
    const client = await connected(askUnits);
    const again = await client.answer(await client.send(), { units: response });
    expect(again).toMatchObject({ asks: { units: 'Which units?' } });
    expect(await client.answer(again, { units: metric })).toEqual({ says: '{"units":"metric"}' });
  },
);

test('what an answer carries beyond the form reaches the handler in no round, even if the schema takes it', async () => {
  const standard = { ...Units['~standard'], validate: (value: unknown) => ({ value }) };
  const loose = { '~standard': standard } as typeof Units;
  const reads: unknown[] = [];
  const client = await connected(async (ctx) => {
    reads.push(await ctx.elicit('units', 'Which units?', loose));
    return askName(ctx);
  });
  await answerAll(client, { units: accept({ units: 'metric', admin: true }) }, { name: ada });
  expect(reads).toEqual([{ units: 'metric' }, { units: 'metric' }]);
});

test('a round that is sent twice runs its new effects twice: only single-use state could help', async () => {
  const ran: string[] = [];
  const client = await connected(sequence([run('a'), ask, run('b')], ran));
  const asked = await client.send();
  await client.answer(asked, { units: metric });
  await client.answer(asked, { units: metric });
  expect(ran).toEqual(['a', 'b', 'b']);
});

test('calls that are under way together keep their own journals', async () => {
  const client = await connected(async (ctx) => [ctx.uuid(), await askUnits(ctx), ctx.uuid()]);
  const imperial = accept({ units: 'imperial' });
  const [one, other] = await Promise.all([client.send(), client.send()]);
  const [second, first] = await Promise.all([
    client.answer(other, { units: imperial }),
    client.answer(one, { units: metric }),
  ]);
  const said = z.object({ says: z.string().transform((text) => JSON.parse(text)) });
  const [a, units, b] = said.parse(first).says;
  const [c, otherUnits, d] = said.parse(second).says;
  expect([units, otherUnits]).toEqual([{ units: 'metric' }, { units: 'imperial' }]);
  expect(new Set([a, b, c, d]).size).toBe(4);
});

// Too late

test('what a handler comes to after its round is over stays pending, and nothing of it executes', async () => {
  const late = [new Gate(), new Gate()];
  const reached: string[] = [];
  let entry = 0;
  const client = await connected((ctx) => {
    const gate = late[entry++];
    return Promise.all([
      askUnits(ctx),
      ctx.run('early', () => reached.push('early')),
      (async () => {
        await gate?.promise;
        reached.push('late');
        await ctx.run('late', () => reached.push('ran'));
        reached.push('after it');
        await askName(ctx);
        reached.push('never');
      })(),
    ]);
  });
  const asked = await client.send();
  late[0]?.open();
  await turns();
  expect(reached.splice(0)).toEqual(['early', 'late']);

  late[1]?.open();
  const again = await client.answer(asked, { units: kelvin });
  expect(again.asks).toEqual({ units: 'Which units?', name: 'Which name?' });
  expect(reached).toEqual(['late', 'ran', 'after it']);
});

test('a branch that awaits what is not journaled is a divergence to the others, and not a second effect', async () => {
  const gates = [new Gate(), new Gate()];
  const ran: string[] = [];
  let entry = 0;
  gates[0]?.open();
  const client = await connected((ctx) => {
    const gate = gates[entry++];
    return Promise.all([askUnits(ctx), gate?.promise.then(() => ctx.run('slow', () => ran.push('slow')))]);
  });
  const asked = await client.send();
  expect(await client.answer(asked, { units: metric })).toEqual({
    fails: new JournalDiverged('slow', 'an effect', "step 'units'").message,
  });
  gates[1]?.open();
  await turns();
  expect(ran).toEqual(['slow']);
});

test('an effect that is to be retried does not run once the handler has diverged', async () => {
  const ran: string[] = [];
  const flaky: Step = (ctx) =>
    ctx
      .run('flaky', () => {
        ran.push('flaky');
        throw new Error('Not yet.');
      })
      .catch(() => {});
  const site = new Site(journaling(sequence([flaky, run('a'), ask], ran)));
  const client = await site.connect();
  const asked = await client.send();
  expect(ran.splice(0)).toEqual(['flaky', 'a']);
  site.deploy(journaling(sequence([together(flaky, (ctx) => ctx.now('a')), ask], ran)));
  expect(await client.answer(asked, { units: metric })).toEqual({
    fails: new JournalDiverged('a', 'an effect', 'a time').message,
  });
  await turns();
  expect(ran).toEqual([]);
});

test('an effect after the call has ended with an error does not start', async () => {
  const gate = new Gate();
  const ran: string[] = [];
  const client = await connected((ctx) =>
    Promise.all([
      Promise.reject(new Error('The end.')),
      gate.promise.then(() => ctx.run('late', () => ran.push('late'))),
    ]),
  );
  expect(await client.send()).toEqual({ fails: 'The end.' });
  gate.open();
  await turns();
  expect(ran).toEqual([]);
});

test('the entry that a question ended is collected with all that it held', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const held: WeakRef<object>[] = [];
  const client = await connected(async (ctx) => {
    const large = { bytes: new Uint8Array(1000) };
    held.push(new WeakRef(large));
    await askUnits(ctx);
    return large.bytes.length;
  });
  const asked = await client.send();
  for (let turn = 0; turn < 50 && held[0]?.deref(); turn++) {
    await turns(1);
    collectGarbage();
  }
  expect(held[0]?.deref()).toBeUndefined();
  expect(await client.answer(asked, { units: metric })).toEqual({ says: '1000' });
});
