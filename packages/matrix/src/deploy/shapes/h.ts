/** `linear`, in memory or in a durable store. */
import { textResult } from '@mrtr/core';
import type { World } from '@mrtr/example-tools';
import { type LinearStore, linear } from '@mrtr/shapes/linear';
import { type Code, place } from '../code/code.ts';

export const waiting = (code: Code, world: World, store: LinearStore) =>
  linear(
    async (_input: unknown, ctx) => {
      const data: Record<string, unknown> = {};
      for (const step of code.steps) {
        data[step.name] =
          step.kind === 'effect'
            ? await ctx.once(step.key, () => step.run(world), { schema: step.schema })
            : await ctx.ask(step.key, step.question);
      }
      return textResult(await ctx.once('order', () => place(code, data, world)));
    },
    { store },
  );
