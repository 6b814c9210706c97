/** Random programs of asks and effects, and the result of an uninterrupted run. */

import { elicitation } from '@mrtr/core';
import { settle } from '@mrtr/harness/internal';
import fc from 'fast-check';
import { accept, decline, kelvin, Units } from '../fixture.test-support.ts';
import type { EffectFailed, JournalContext } from './index.ts';

/** One step. Making the program assigns the keys, so that they are unique. */
export type Step =
  | { readonly kind: 'effect'; readonly key: string; readonly delay: number; readonly fails: boolean }
  | { readonly kind: 'value'; readonly key: string; readonly of: 'now' | 'random' | 'uuid' }
  | {
      readonly kind: 'ask';
      readonly key: string;
      readonly says: Says;
      readonly after: Readonly<Record<Says, Program>>;
    }
  | { readonly kind: 'together'; readonly branches: readonly Program[] };
export type Program = readonly Step[];
/** The user's answer to a question; `no` is a refusal. */
type Says = 'metric' | 'imperial' | 'no';

const delay = fc.integer({ min: 0, max: 2 });
const says = fc.constantFrom<Says>('metric', 'imperial', 'no');
const key = fc.constant('');
const { step: unkeyed } = fc.letrec<{ step: Step; program: Program }>((tie) => {
  const program = tie('program');
  const effect = fc.record({ kind: fc.constant('effect'), key, delay, fails: fc.boolean() });
  const value = fc.record({ kind: fc.constant('value'), key, of: fc.constantFrom('now', 'random', 'uuid') });
  const after = fc.record({ metric: program, imperial: program, no: program });
  const ask = fc.record({ kind: fc.constant('ask'), key, says, after });
  const branches = fc.array(program, { minLength: 2, maxLength: 3 });
  const together = fc.record({ kind: fc.constant('together'), branches });
  return {
    step: fc.oneof<fc.WeightedArbitrary<Step>[]>(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 2, arbitrary: effect },
      { weight: 1, arbitrary: value },
      { weight: 4, arbitrary: ask },
      { weight: 3, arbitrary: together },
    ),
    program: fc.array(tie('step'), { maxLength: 3 }),
  };
});

/** Programs. */
export const programs: fc.Arbitrary<Program> = fc
  .array(unkeyed, { minLength: 1, maxLength: 4 })
  .map((program) => withKeys(program, { next: 0 }));

function withKeys(program: Program, counter: { next: number }): Program {
  return program.map((step) => {
    if (step.kind === 'together')
      return { ...step, branches: step.branches.map((branch) => withKeys(branch, counter)) };
    const key = `${step.kind}-${counter.next++}`;
    if (step.kind !== 'ask') return { ...step, key };
    const { metric, imperial, no } = step.after;
    const after = {
      metric: withKeys(metric, counter),
      imperial: withKeys(imperial, counter),
      no: withKeys(no, counter),
    };
    return { ...step, key, after };
  });
}

/** Records what the effects of one call do. */
export class EffectLog {
  /** How often each effect did its work, by key. */
  readonly done: Record<string, number> = {};
  /** Each value when it was first read, by key; and the keys of values that changed later. */
  readonly #values: Record<string, unknown> = {};
  readonly changed: string[] = [];

  async effect(step: Extract<Step, { kind: 'effect' }>): Promise<string> {
    if (step.delay > 0) await settle(step.delay - 1);
    this.done[step.key] = (this.done[step.key] ?? 0) + 1;
    if (step.fails) throw new RangeError(step.key);
    return `${step.key} done`;
  }

  look(key: string, value: unknown): void {
    this.#values[key] ??= value;
    if (this.#values[key] !== value) this.changed.push(key);
  }
}

/** The program as an author would write it. */
export async function journaledRun(
  program: Program,
  ctx: JournalContext,
  log: EffectLog,
): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const step of program) {
    if (step.kind === 'together') {
      results.push(await Promise.all(step.branches.map((branch) => journaledRun(branch, ctx, log))));
    } else if (step.kind === 'value') {
      log.look(step.key, ctx[step.of](step.key));
    } else if (step.kind === 'effect') {
      const effect = ctx.once(step.key, () => log.effect(step));
      results.push(await effect.catch((error: EffectFailed) => `${error.name} ${error.message}`));
    } else {
      const said = await ctx.ask(step.key, elicitation(`${step.key}?`, Units)).then(
        ({ units }) => units,
        () => 'no' as const,
      );
      results.push(said, await journaledRun(step.after[said], ctx, log));
    }
  }
  return results;
}

/** The expected result of an uninterrupted run: its value, its effects, and how many questions follow each other. */
export function runUninterrupted(program: Program): { result: unknown[]; done: string[]; depth: number } {
  const run = { result: [] as unknown[], done: [] as string[], depth: 0 };
  for (const step of program) {
    if (step.kind === 'effect') {
      run.result.push(step.fails ? `RangeError ${step.key}` : `${step.key} done`);
      run.done.push(step.key);
    } else if (step.kind === 'ask') {
      const after = runUninterrupted(step.after[step.says]);
      run.result.push(step.says, after.result);
      run.done.push(...after.done);
      run.depth += 1 + after.depth;
    } else if (step.kind === 'together') {
      const branches = step.branches.map(runUninterrupted);
      run.result.push(branches.map(({ result }) => result));
      run.done.push(...branches.flatMap(({ done }) => done));
      run.depth += Math.max(...branches.map(({ depth }) => depth));
    }
  }
  return run;
}

/** The user's answers to the questions of a program. With `sense` false, the user first gives a nonsense answer. */
export function answers(program: Program, sense = true): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const step of program) {
    if (step.kind === 'ask') {
      const good = step.says === 'no' ? decline : accept({ units: step.says });
      all[step.key] = sense ? good : kelvin;
      for (const after of Object.values(step.after)) Object.assign(all, answers(after, sense));
    } else if (step.kind === 'together') {
      for (const branch of step.branches) Object.assign(all, answers(branch, sense));
    }
  }
  return all;
}
