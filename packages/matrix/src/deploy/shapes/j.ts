/** `journal`: every step by its key, from the top in each round. */
import { textResult } from '@mrtr/core';
import type { World } from '@mrtr/example-tools';
import { journal } from '@mrtr/shapes/journal';
import { type Code, place } from '../code/code.ts';

export const writeJ = (code: Code, world: World) =>
  journal(async (_input: unknown, ctx) => {
    const data: Record<string, unknown> = {};
    for (const step of code.steps) {
      data[step.name] =
        step.kind === 'effect'
          ? await ctx.once(step.key, () => step.run(world), { schema: step.schema })
          : await ctx.ask(step.key, step.question);
    }
    return textResult(await ctx.once('order', () => place(code, data, world)));
  });
