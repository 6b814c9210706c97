/** Questions whose `await` was forgotten, in the shapes with `ctx.ask` and `ctx.once`: J and H. */
import { approval, elicitation, textResult, words } from '@mrtr/core';
import { Deferred, settle } from '@mrtr/harness/internal';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  countRuns,
  decline,
  metric,
  name,
  type RoundSummary,
  TestDeployment,
  tool,
  Units,
  units,
} from './fixture.test-support.ts';
import { type JournalContext, journal } from './journal/index.ts';
import { ContinuationStore, type LinearContext, linear } from './linear/index.ts';

/** What J and H have in common. */
type Context = Pick<JournalContext & LinearContext, 'ask' | 'once'>;
type Handler = (ctx: Context, pay: () => Promise<unknown>) => unknown;

const errorOf = (key: string, effect = 'pay'): string =>
  `No code waits for the answer to the question '${key}', so the effect '${effect}' did not run. ` +
  'Await the question before the effect, or ask it after the effect.';
const returnErrorOf = (key: string): string =>
  `No code waits for the answer to the question '${key}', so the handler has returned. Await the question.`;

const sure = approval(words`Really pay?`, { approve: 'Pay', refuse: 'Do not pay' });
const withFallback = elicitation('Which units?', Units, { fallback: { units: 'metric' } });
const ignore = () => {};

/** Answers all questions of a call with `response`, until the call ends. */
async function callOf(site: TestDeployment, response: object = metric): Promise<RoundSummary> {
  const client = await site.connect();
  let outcome = await client.send();
  while (outcome.asks) {
    const answers = Object.keys(outcome.asks).map((key) => [key, response]);
    outcome = await client.answer(outcome, Object.fromEntries(answers));
  }
  return outcome;
}

const shapes = {
  journal: (run: (ctx: Context) => unknown) =>
    journal(async (_args, ctx) => textResult(String(await run(ctx as Context)))),
  'strict journal': (run: (ctx: Context) => unknown) =>
    journal(async (_args, ctx) => textResult(String(await run(ctx as Context))), { strict: true }),
  linear: (run: (ctx: Context) => unknown) => {
    const store = new ContinuationStore();
    onTestFinished(() => store.close());
    return linear(async (_args, ctx) => textResult(String(await run(ctx as Context))), { store });
  },
};

describe.each(Object.entries(shapes))('%s', (_shape, shape) => {
  async function callPaying(handler: Handler, response?: object) {
    const paid: string[] = [];
    const pay = (ctx: Context) => () => ctx.once('pay', () => paid.push('paid'));
    const site = new TestDeployment(tool(shape((ctx) => handler(ctx, pay(ctx)))));
    const outcome = await callOf(site, response);
    // Branches that are left over get the time to run.
    await settle();
    return { outcome, paid: paid.length };
  }

  test.each<[what: string, handler: Handler, fails: string]>([
    [
      'a question that is not awaited',
      async (ctx, pay) => {
        ctx.ask('sure', sure);
        await pay();
      },
      errorOf('sure'),
    ],
    [
      'several questions of one ask',
      async (ctx, pay) => {
        ctx.ask({ units, name });
        await pay();
      },
      errorOf("units', 'name"),
    ],
    [
      'a question that is awaited after the effect',
      async (ctx, pay) => {
        const answer = ctx.ask('sure', sure);
        await pay();
        await answer;
      },
      errorOf('sure'),
    ],
    [
      'a question behind one that is awaited',
      async (ctx, pay) => {
        ctx.ask('units', units);
        await ctx.ask('more', units).catch(ignore);
        await pay();
      },
      errorOf('units'),
    ],
    [
      'a question with a fallback',
      async (ctx, pay) => {
        ctx.ask('units', withFallback);
        await pay();
      },
      errorOf('units'),
    ],
    [
      'a question that is no question',
      async (ctx, pay) => {
        ctx.ask('sure', 'Really?' as never);
        await pay();
      },
      errorOf('sure'),
    ],
    [
      'a second question under an open key',
      async (ctx, pay) => {
        const answer = ctx.ask('units', units).catch(ignore);
        ctx.ask('units', units);
        await pay();
        await answer;
      },
      errorOf('units'),
    ],
    [
      'a question of which the handler keeps the error to itself',
      async (ctx, pay) => {
        const answer = ctx.ask('sure', sure);
        await pay().catch(ignore);
        await pay().catch(ignore);
        await answer.catch(ignore);
      },
      errorOf('sure'),
    ],
    [
      'a branch that the handler leaves behind',
      (ctx, pay) => {
        ctx.ask('sure', sure);
        pay();
      },
      returnErrorOf('sure'),
    ],
    ['a handler that returns at once', (ctx) => void ctx.ask('sure', sure), returnErrorOf('sure')],
    [
      'a handler that returns its promise inside of a list',
      (ctx) => [ctx.ask({ units })],
      returnErrorOf('units'),
    ],
  ])('%s ends the call before the effect', async (_what, handler, fails) => {
    for (const response of [metric, decline])
      expect(await callPaying(handler, response)).toEqual({ outcome: { fails }, paid: 0 });
  });

  test.each<[what: string, handler: Handler]>([
    ['is awaited', async (ctx, pay) => [await ctx.ask('units', units), await pay()]],
    ['is awaited together with the effect', (ctx, pay) => Promise.all([ctx.ask('units', units), pay()])],
    [
      'is awaited behind the effect, together with it',
      (ctx, pay) => Promise.all([pay(), ctx.ask({ units })]),
    ],
    [
      'is awaited together with it in two helpers',
      async (ctx, pay) => {
        const ask = async () => ctx.ask('units', units);
        const effect = async () => pay();
        await Promise.all([ask(), effect()]);
      },
    ],
    [
      'is awaited by a race, then read again',
      async (ctx, pay) => {
        const answer = ctx.ask('units', units);
        await Promise.race([answer, new Promise(ignore)]);
        await pay();
        await answer;
      },
    ],
    ['has a then', (ctx, pay) => ctx.ask('units', units).then(pay)],
    ['has a finally', (ctx, pay) => ctx.ask('units', units).finally(pay)],
    ['has a catch', async (ctx, pay) => [await ctx.ask('units', units).catch(ignore), await pay()]],
    [
      'is started early, and awaited before the effect',
      async (ctx, pay) => {
        const [first, second] = [ctx.ask('units', units), ctx.ask('more', withFallback)];
        await first;
        await second;
        await pay();
      },
    ],
    [
      'is asked after the start of the effect, and awaited after its end',
      async (ctx, pay) => {
        const payment = pay();
        const answer = ctx.ask('units', units);
        await payment;
        await answer;
      },
    ],
    ['is asked after the effect', async (ctx, pay) => [await pay(), await ctx.ask('units', units)]],
  ])('a question that %s lets the effect run', async (_what, handler) => {
    expect(await callPaying(handler)).toEqual({ outcome: { says: expect.any(String) }, paid: 1 });
  });

  test.each<[what: string, inner: (ctx: Context) => unknown]>([
    ['a question', (ctx) => ctx.ask('sure', sure)],
    ['a question of which nobody reads the error', (ctx) => ctx.ask('sure', sure).catch(ignore)],
    ['an ask of several questions', (ctx) => ctx.ask({ units, name })],
    ['another effect', (ctx) => ctx.once('mail', ignore)],
  ])('%s inside of an effect stops that effect, also without an await', async (_what, inner) => {
    const paid = countRuns(() => 'paid');
    const { outcome } = await callPaying((ctx) =>
      ctx.once('outer', () => {
        inner(ctx);
        return paid();
      }),
    );
    expect(outcome).toEqual({ fails: expect.stringContaining('is inside of a once') });
    expect(paid.runs).toBe(0);
  });

  test('a question is a promise in every way, and its rejection ends no process', async () => {
    const seen: unknown[] = [];
    const { outcome } = await callPaying(async (ctx) => {
      const answer = ctx.ask('units', units);
      seen.push(answer instanceof Promise, answer.then(ignore, ignore).constructor === Promise);
      expectTypeOf(answer).toEqualTypeOf<Promise<{ units: 'metric' | 'imperial' }>>();
      const unread = ctx.ask('more', units);
      try {
        await answer;
      } finally {
        seen.push(unread instanceof Promise);
      }
    }, decline);
    expect(outcome).toEqual({ says: "Cancelled: the question 'units' was not answered." });
    expect(new Set(seen)).toEqual(new Set([true]));
  });

  test('in no program does an effect run while a question that was asked before it has no reader', async () => {
    let program: Program = [];
    let run = new Run();
    const site = new TestDeployment(
      tool(
        shape(async (ctx) => {
          run.enter();
          await run.perform(program, ctx, '');
        }),
      ),
      { limits: { rounds: 254 } },
    );
    const ends = { says: 0, fails: 0, effects: 0 };
    await fc.assert(
      fc.asyncProperty(programs, fc.constantFrom(metric, decline), async (generated, response) => {
        [program, run] = [generated, new Run()];
        const outcome = await callOf(site, response);
        await settle(1);
        expect(run.tooEarly).toEqual([]);
        expect(new Set(run.effects).size).toBe(run.effects.length);
        const isRejected = run.rejected.length > 0 || run.unread.length > 0;
        expect(outcome).toEqual(
          isRejected ? { fails: expect.stringMatching(/^No code waits/) } : { says: 'undefined' },
        );
        ends[isRejected ? 'fails' : 'says']++;
        ends.effects += run.effects.length;
      }),
      { numRuns: 60 },
    );
    expect(Math.min(ends.says, ends.fails, ends.effects)).toBeGreaterThan(10);
  });
});

/** A step of a random program. */
type Step =
  | { readonly do: 'ask'; readonly read: 'now' | 'later' | 'never' }
  | { readonly do: 'read' }
  | { readonly do: 'effect'; readonly isAwaited: boolean }
  | { readonly do: 'together'; readonly branches: readonly Program[] };
type Program = readonly Step[];

const { program: programs } = fc.letrec<{ step: Step; program: Program }>((tie) => ({
  step: fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { maxDepth: 2, withCrossShrink: true },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('ask'),
        read: fc.constantFrom('now', 'now', 'now', 'later', 'never'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('read') }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('effect'), isAwaited: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('together'),
        branches: fc.array(tie('program'), { minLength: 2, maxLength: 3 }),
      }),
    },
  ),
  program: fc.array(tie('step'), { maxLength: 5 }),
}));

/** Performs a program, and notes what it reads and what runs. */
class Run {
  readonly #asked = new Set<string>();
  readonly effects: string[] = [];
  readonly rejected: string[] = [];
  readonly tooEarly: string[] = [];

  /** J enters the handler anew in each round. */
  enter(): void {
    this.#asked.clear();
  }

  /** The questions without a reader. */
  get unread(): readonly string[] {
    return [...this.#asked];
  }

  async perform(program: Program, ctx: Context, path: string): Promise<void> {
    const later: (() => Promise<unknown>)[] = [];
    for (const [at, step] of program.entries()) {
      const key = `${path}/${at}`;
      if (step.do === 'ask') {
        this.#asked.add(key);
        const answer = ctx.ask(key, elicitation(`${key}?`, Units));
        const read = async () => {
          this.#asked.delete(key);
          await Promise.allSettled([answer]);
        };
        if (step.read === 'now') await read();
        else if (step.read === 'later') later.push(read);
      } else if (step.do === 'read') {
        await Promise.all(later.splice(0).map((read) => read()));
      } else if (step.do === 'together') {
        await Promise.all(step.branches.map((branch, n) => this.perform(branch, ctx, `${key}/${n}`)));
      } else {
        const before = this.unread;
        const effect = ctx.once(key, () => {
          this.effects.push(key);
          if (before.some((asked) => this.#asked.has(asked))) this.tooEarly.push(key);
        });
        const done = effect.catch((error: Error) => void this.rejected.push(error.message));
        if (step.isAwaited) await done;
      }
    }
  }
}

test('H: an elicit without await stops the effect, also when its form is wrong', async () => {
  const store = new ContinuationStore();
  onTestFinished(() => store.close());
  const paid = countRuns(() => 'paid');
  const wrong = z.object({ nested: z.object({}) });
  for (const [form, key] of [
    [Units, 'units'],
    [wrong, 'Really pay?'],
  ] as const) {
    const callback = linear(
      async (_args, ctx) => {
        ctx.elicit('Really pay?', form as typeof Units);
        return textResult(await ctx.once('pay', paid));
      },
      { store },
    );
    expect(await callOf(new TestDeployment(tool(callback)))).toEqual({ fails: errorOf(key) });
  }
  expect(paid.runs).toBe(0);
});

test('H: a branch that finds an unread question while the call is parked ends it at the next retry', async () => {
  const store = new ContinuationStore();
  onTestFinished(() => store.close());
  const [gate, paid] = [new Deferred(), countRuns(() => 'paid')];
  const callback = linear(
    async (_args, ctx) => {
      const branch = gate.promise.then(() => {
        ctx.ask('sure', sure);
        return ctx.once('pay', paid);
      });
      const [answer] = await Promise.all([ctx.ask('units', units), branch]);
      return textResult(answer.units);
    },
    { store },
  );
  const client = await new TestDeployment(tool(callback)).connect();
  const asked = await client.send();
  gate.open();
  await settle();
  expect(await client.answer(asked, { units: metric })).toEqual({ fails: errorOf('sure') });
  expect([paid.runs, store.parked]).toEqual([0, 0]);
});
