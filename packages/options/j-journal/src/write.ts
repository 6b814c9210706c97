/** Any script in shape J: every step by its key, from the top in each round. */
import { isAsk, questionsOf, type Write } from '@mrtr/option';
import { journal } from '@mrtr/shapes/journal';

export const write: Write = ({ steps, end }) =>
  journal(async (_input: object, ctx) => {
    const data: Record<string, unknown> = {};
    for (const step of steps) {
      if (isAsk(step)) Object.assign(data, await ctx.ask(Object.fromEntries(questionsOf(step, ctx.canAsk))));
      else data[step.does] = await ctx.once(step.does, step.run, { schema: step.schema });
    }
    return end(data, (key, run) => ctx.once(key, run));
  });
