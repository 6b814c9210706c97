/** Any outline in shape G: every step by its name. An effect is a step that computes. */

import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { type Data, isAsk, questionsOf, type Write } from '../outline.ts';

export const write: Write = ({ steps, asks, above, end }) => {
  // The compiler does not know the steps' names, and so not the types of their data.
  let tool = new ToolBuilder<object, Data>();
  const several = new Set<string>();
  for (const [at, step] of steps.entries()) {
    if (!isAsk(step)) {
      tool = tool.incompleteStep(step.does as never, () => step.run(), { schema: step.schema });
      continue;
    }
    const [[key = '', question] = [], ...more] = Object.entries(step.asks);
    const name = more.length > 0 ? `round ${at + 1}` : key;
    if (more.length > 0) several.add(name);
    tool = tool.incompleteStep(name as never, (_input, _data, ctx) => {
      above?.(ctx);
      return more.length > 0 ? Object.fromEntries(questionsOf(step, ctx.canAsk)) : question;
    });
  }
  return tool
    .endStep((_input, data, ctx) => {
      const all = Object.entries(data).flatMap(([name, value]) =>
        several.has(name) ? Object.entries(value as Data) : [[name, value] as const],
      );
      return end(Object.fromEntries(all), ctx);
    })
    .build({ asks });
};
