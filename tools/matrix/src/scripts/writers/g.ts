/** Any script in shape G: every step by its name. An effect is a step that computes. */

import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { type Data, isAsk, questionsOf, type Write } from '../script.ts';

export const write: Write = ({ steps, end }) => {
  // The compiler does not know the steps' names, and so not the types of their data.
  let tool = new ToolBuilder<object, Data>();
  const several: string[] = [];
  for (const [at, step] of steps.entries()) {
    if (!isAsk(step)) {
      tool = tool.incompleteStep(step.does as never, () => step.run(), { schema: step.schema });
      continue;
    }
    const [[key, question] = [], ...more] = Object.entries(step.asks);
    if (more.length === 0) {
      tool = tool.incompleteStep(key as never, () => question);
      continue;
    }
    several.push(`round ${at + 1}`);
    tool = tool.incompleteStep(`round ${at + 1}` as never, (_input, _data, { canAsk }) =>
      Object.fromEntries(questionsOf(step, canAsk)),
    );
  }
  return tool
    .endStep((_input, data) => {
      const answers = several.map((name) => data[name] as Data);
      return end(Object.assign({ ...data }, ...answers), (_key, run) => run());
    })
    .build();
};
