/** Any outline in shape B. Code above a question runs again in each round, so all effects are below. */
import type { Elicitation } from '@mrtr/core';
import { awaitShim } from '../../../../../demos/option-b-await/await-shim.ts';
import { endUnguarded, isAsk, questionsOf, type Write } from '../outline.ts';

export const write: Write = (outline) =>
  awaitShim(async (_input: object, ctx) => {
    outline.above?.(ctx);
    const answers: Record<string, unknown> = {};
    for (const round of outline.steps.filter(isAsk)) {
      for (const [key, question] of questionsOf(round, ctx.canAsk)) {
        const { message, schema, fallback } = question as Elicitation;
        answers[key] = await ctx.elicit(message, schema, { fallback });
      }
    }
    return endUnguarded(outline, answers, ctx);
  });
