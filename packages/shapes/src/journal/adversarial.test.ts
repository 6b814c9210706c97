/** Handlers that changed between rounds, and code that runs too late. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { elicitation } from '@mrtr/core';
import { Deferred, settle } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import { ada, kelvin, metric, Name, TestDeployment, Units } from '../fixture.test-support.ts';
import { type JournalContext, JournalDiverged } from './index.ts';
import { answerAll, askName, askUnits, connectTo, journaling } from './journaling.test-support.ts';

/** A step of a handler: an effect that the test records, or another step. */
type Step = (ctx: JournalContext, ran: string[]) => unknown;
const run =
  (key: string): Step =>
  (ctx, ran) =>
    ctx.once(key, () => ran.push(key));
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
  ['looks at a time more in front', [(ctx) => ctx.now(), ...BEFORE], ['a', 'an effect', "step 'now#1'"]],
  [
    'has a new effect in between',
    [...BEFORE.slice(0, 3), run('x'), ...BEFORE.slice(3)],
    ['units', 'a question', "step 'x'"],
  ],
  ['has two new effects together', [together(run('x'), run('y')), ...BEFORE], ['a', 'an effect', "step 'y'"]],
  ['misses an effect', [run('a'), now, ask, run('c'), next], ['b', 'an effect', "step 'name'"]],
  ['misses the last step', [run('a'), now, run('b'), ask, next, run('x')], ['c', 'an effect', "step 'name'"]],
  ['misses everything', [], ['a', 'an effect', 'its end']],
  ['throws early', [run('a'), ends], ['t', 'a time', 'its end']],
  [
    'asks where it ran',
    [(ctx) => ctx.ask('a', elicitation('a', Name)), ...BEFORE.slice(1)],
    ['a', 'an effect', 'a question'],
  ],
  ['draws where it looked at the time', [run('a'), (ctx) => ctx.uuid('t')], ['t', 'a time', 'a UUID']],
  [
    'asks in other words',
    [...BEFORE.slice(0, 3), (ctx) => ctx.ask('units', elicitation('Celsius?', Units)), run('x')],
    ['units', 'another question', '"Celsius?"'],
  ],
  [
    'rejects an answer that it took',
    [
      ...BEFORE.slice(0, 3),
      (ctx) =>
        ctx.ask(
          'units',
          elicitation(
            'Which units?',
            Units.refine(() => false),
          ),
        ),
      run('x'),
    ],
    ['units', 'an answer', '"Which units?", which it does not fit'],
  ],
])(
  'a handler that now %s stops before anything else executes',
  async (_what, after, [key, recorded, came]) => {
    const ran: string[] = [];
    const site = new TestDeployment(journaling(sequence(BEFORE, ran)));
    const client = await site.connect();
    const asked = await answerAll(client, { units: metric });
    expect(ran.splice(0)).toEqual(['a', 'b', 'c']);

    site.deploy(journaling(sequence(after, ran)));
    const { message } = new JournalDiverged(key, recorded, came);
    expect(await client.answer(asked, { name: ada })).toEqual({ fails: message });

    // The call ends so even if the handler catches the error.
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
    // If other steps found the divergence first, the last one was stopped too.
    expect(caught.length).toBeGreaterThan(came === 'its end' ? 0 : 1);
    expect(new Set(caught.map((thrown) => JSON.stringify(thrown)))).toEqual(new Set([JSON.stringify(then)]));
    expect(ran).toEqual([]);
  },
);

test.each<[what: string, after: readonly Step[], ran: readonly string[]]>([
  ['has a step after the last recorded one', [...BEFORE.slice(0, 5), run('x'), next, run('y')], ['x', 'y']],
  ['ends after the last recorded one', BEFORE.slice(0, 5), []],
  ['takes recorded steps together', [together(run('b'), run('a'), now), together(ask, run('c')), next], []],
])('a handler that now %s resumes the call', async (_what, after, expected) => {
  const ran: string[] = [];
  const site = new TestDeployment(journaling(sequence(BEFORE, ran)));
  const client = await site.connect();
  const asked = await answerAll(client, { units: metric });
  ran.length = 0;
  site.deploy(journaling(sequence(after, ran)));
  expect(await client.answer(asked, { name: ada })).toEqual({ says: 'nothing' });
  expect(ran).toEqual(expected);
});

// Too late

test('steps that a handler reaches after its round is over stay pending and execute nothing', async () => {
  const late = [new Deferred(), new Deferred()];
  const reached: string[] = [];
  let entry = 0;
  const client = await connectTo((ctx) => {
    const gate = late[entry++];
    return Promise.all([
      askUnits(ctx),
      ctx.once('early', () => reached.push('early')),
      (async () => {
        await gate?.promise;
        reached.push('late');
        await ctx.once('late', () => reached.push('ran'));
        reached.push('after it');
        await askName(ctx);
        reached.push('never');
      })(),
    ]);
  });
  const asked = await client.send();
  late[0]?.open();
  await settle();
  expect(reached.splice(0)).toEqual(['early', 'late']);

  late[1]?.open();
  const again = await client.answer(asked, { units: kelvin });
  expect(again.asks).toEqual({ units: expect.stringMatching(/^Which units\?\n\n/), name: 'Which name?' });
  expect(reached).toEqual(['late', 'ran', 'after it']);
});

test('a branch that awaits a promise without a journal makes the call diverge, and runs no effect twice', async () => {
  const gates = [new Deferred(), new Deferred()];
  const ran: string[] = [];
  let entry = 0;
  gates[0]?.open();
  const client = await connectTo((ctx) => {
    const gate = gates[entry++];
    return Promise.all([askUnits(ctx), gate?.promise.then(() => ctx.once('slow', () => ran.push('slow')))]);
  });
  const asked = await client.send();
  expect(await client.answer(asked, { units: metric })).toEqual({
    fails: new JournalDiverged('slow', 'an effect', "step 'units'").message,
  });
  gates[1]?.open();
  await settle();
  expect(ran).toEqual(['slow']);
});

test('an effect after the call has ended with an error does not start', async () => {
  const gate = new Deferred();
  const ran: string[] = [];
  const client = await connectTo((ctx) =>
    Promise.all([
      Promise.reject(new Error('The end.')),
      gate.promise.then(() => ctx.once('late', () => ran.push('late'))),
    ]),
  );
  expect(await client.send()).toEqual({ fails: 'The end.' });
  gate.open();
  await settle();
  expect(ran).toEqual([]);
});

test('an entry that ended with a question is garbage, with everything that it held', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const held: WeakRef<object>[] = [];
  const client = await connectTo(async (ctx) => {
    const large = { bytes: new Uint8Array(1000) };
    held.push(new WeakRef(large));
    await askUnits(ctx);
    return large.bytes.length;
  });
  const asked = await client.send();
  for (let turn = 0; turn < 50 && held[0]?.deref(); turn++) {
    await settle(1);
    collectGarbage();
  }
  expect(held[0]?.deref()).toBeUndefined();
  expect(await client.answer(asked, { units: metric })).toEqual({ says: '1000' });
});

test.each<[string, Parameters<typeof connectTo>[0], string]>([
  [
    'key `__proto__`',
    (ctx) => ctx.ask('__proto__', elicitation('Name?', Name)),
    "cannot have the key '__proto__'",
  ],
  ['value that is no question', (ctx) => ctx.ask('q', 'Well?' as never), "'q' is not a question."],
  [
    'question without a key',
    (ctx) => ctx.ask(elicitation('Name?', Name) as never),
    'Give the question a key:',
  ],
])('a %s is the author’s mistake, and says so', async (_what, handler, words) => {
  const client = await connectTo(handler);
  expect(await client.send()).toEqual({ fails: expect.stringContaining(words) });
});
