/** `ToolBuilder`: every step by its name. The ticket is a step that computes. */
import { textResult } from '@mrtr/core';
import type { World } from '@mrtr/example-tools';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { type Code, type Data, place, type Step } from '../code/code.ts';

export function writeG(code: Code, world: World) {
  // The names are not known to the compiler, so neither are the types of the steps' data.
  const add = (tool: ToolBuilder<unknown, Data>, step: Step) =>
    step.kind === 'ask'
      ? tool.incompleteStep(step.key as never, () => step.question)
      : tool.incompleteStep(step.key as never, () => step.run(world), { schema: step.schema });
  const steps = code.steps.reduce(add, new ToolBuilder<unknown>() as never);
  return steps
    .endStep(async (_input, data: Data) => {
      const byName = code.steps.map(({ name, key }) => [name, data[key]]);
      return textResult(await place(code, Object.fromEntries(byName), world));
    })
    .build();
}
