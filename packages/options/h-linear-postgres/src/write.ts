/** Any script in shape H, on a durable store. */
import { isAsk, questionsOf, type Write } from '@mrtr/option';
import { type LinearStore, linear } from '@mrtr/shapes/linear';

export const writeOn =
  (store: LinearStore): Write =>
  ({ steps, end }) =>
    linear(
      async (_input: object, ctx) => {
        const data: Record<string, unknown> = {};
        for (const step of steps) {
          if (isAsk(step))
            Object.assign(data, await ctx.ask(Object.fromEntries(questionsOf(step, ctx.canAsk))));
          else data[step.does] = await ctx.once(step.does, step.run, { schema: step.schema });
        }
        return end(data, (key, run) => ctx.once(key, run));
      },
      { store },
    );
