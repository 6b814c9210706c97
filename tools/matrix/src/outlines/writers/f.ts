/** Any outline in shape F: effects above the guard, each under its key. */
import { ask, isRefusal, type Question } from '@mrtr/core';
import { once } from '@mrtr/shapes/once';
import { isAsk, questionsOf, type Write } from '../outline.ts';

export const write: Write = ({ steps, asks, above, end, refused }) =>
  once(
    async (_input: object, ctx) => {
      await above?.(ctx);
      const data: Record<string, unknown> = {};
      for (const step of steps) {
        if (!isAsk(step)) {
          data[step.does] = await ctx.once(step.does, step.run, { schema: step.schema });
          continue;
        }
        const open: [string, Question][] = [];
        for (const [key, question] of questionsOf(step, ctx.canAsk)) {
          const answer = ctx.answer(key, question);
          if (isRefusal(answer)) return refused(key);
          if (answer.kind === 'accepted') data[key] = answer.value;
          else open.push([key, question]);
        }
        if (open.length > 0) return ask(Object.fromEntries(open));
      }
      return end(data, ctx);
    },
    { asks },
  );
