/** `once`: effects above the guard, each under its key. */
import { ask, cancelledResult, isRefusal, textResult } from '@mrtr/core';
import type { World } from '@mrtr/example-tools';
import { once } from '@mrtr/shapes/once';
import { type Code, place } from '../code/code.ts';

export const writeF = (code: Code, world: World) =>
  once(async (_input: unknown, ctx) => {
    const data: Record<string, unknown> = {};
    for (const step of code.steps) {
      if (step.kind === 'effect') {
        data[step.name] = await ctx.once(step.key, () => step.run(world), { schema: step.schema });
        continue;
      }
      const answer = ctx.answer(step.key, step.question);
      if (isRefusal(answer)) return cancelledResult(step.key);
      if (answer.kind !== 'accepted') return ask({ [step.key]: step.question });
      data[step.name] = answer.value;
    }
    return textResult(await place(code, data, world));
  });
