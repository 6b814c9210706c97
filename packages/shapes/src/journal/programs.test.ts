/** Any program, interrupted at any place, ends with the result of an uninterrupted run. */
import { textResult } from '@mrtr/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Caller, TestDeployment, tool } from '../fixture.test-support.ts';
import { journal } from './index.ts';
import {
  answers,
  EffectLog,
  journaledRun,
  type Program,
  programs,
  runUninterrupted,
} from './programs.test-support.ts';

/** The client's plan for one round. */
interface Round {
  /** Which server it sends the round to: they share nothing but their keys. */
  readonly instance: number;
  /** Which questions it answers, by position; a position beyond the list is answered. */
  readonly answers: readonly boolean[];
}

let log = new EffectLog();
let program: Program = [];

const clients = (strict: boolean): Promise<Caller[]> =>
  Promise.all(
    [0, 1, 2].map(() => {
      const callback = journal<unknown, ReturnType<typeof textResult>>(
        async (_args, ctx) => textResult(JSON.stringify(await journaledRun(program, ctx, log))),
        { strict },
      );
      return new TestDeployment(tool(callback), { limits: { rounds: 254, stateBytes: 1e6 } }).connect();
    }),
  );

/** Makes the rounds of one call. A round that is not planned goes to the first server, with all answers. */
async function call(callers: readonly Caller[], rounds: readonly Round[]) {
  const [good, nonsense] = [answers(program), answers(program, false)];
  const [settled, askedAgain]: [Set<string>, string[]] = [new Set(), []];
  const wrong = new Map<string, number>();
  let seen = await (callers[0] as Caller).send();
  let made = 0;
  for (; seen.asks; made++) {
    const { instance, answers: chosen } = rounds[made] ?? { instance: 0, answers: [] };
    const responses: Record<string, unknown> = {};
    for (const [at, key] of Object.keys(seen.asks).entries()) {
      if (settled.has(key)) askedAgain.push(key);
      // A third nonsense answer in a row would end the call.
      const isNonsense = chosen[at] === false && (wrong.get(key) ?? 0) < 2;
      if (isNonsense) wrong.set(key, (wrong.get(key) ?? 0) + 1);
      else settled.add(key);
      responses[key] = (isNonsense ? nonsense : good)[key];
    }
    seen = await (callers[instance] as Caller).answer(seen, responses);
  }
  return { said: seen, rounds: made, askedAgain };
}

const count = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, 1]));

test.each([{ strict: false }, { strict: true }])(
  'every program ends as if never interrupted, whichever answers and servers its rounds get (%j)',
  async ({ strict }) => {
    const callers = await clients(strict);
    const round = fc.record({
      instance: fc.integer({ min: 0, max: 2 }),
      answers: fc.array(fc.boolean(), { maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(programs, fc.array(round, { maxLength: 6 }), async (generated, rounds) => {
        [program, log] = [generated, new EffectLog()];
        const expected = runUninterrupted(program);
        const { said, rounds: made, askedAgain } = await call(callers, rounds);
        expect(said).toEqual({ says: JSON.stringify(expected.result) });
        expect(askedAgain).toEqual([]);
        // If all questions are answered at once, there are as many rounds as consecutive questions.
        const isPrompt = rounds.every(({ answers }) => !answers.includes(false));
        if (isPrompt) expect(made).toBe(expected.depth);
        expect(log.done).toEqual(count(expected.done));
        expect(log.changed).toEqual([]);
      }),
      { numRuns: 40 },
    );
  },
);
