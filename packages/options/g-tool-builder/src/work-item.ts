import { CannotAsk, elicitation, textResult } from '@mrtr/core';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import {
  cannotResolve,
  describeItem,
  Original,
  Resolution,
  type ResolveWorkItem,
  type World,
} from '@mrtr/tools';

export const resolveWorkItem = (world: World) =>
  new ToolBuilder<ResolveWorkItem>()
    .incompleteStep('resolution', ({ id, state }, _data, step) => {
      if (state === 'Active') return undefined;
      if (!step.canAsk('elicitation')) throw new CannotAsk(cannotResolve(id));
      return step.ask(elicitation(`How was #${id} resolved?`, Resolution));
    })
    .incompleteStep('original', ({ id }, { resolution }, step) =>
      resolution?.resolution === 'Duplicate'
        ? step.ask(elicitation(`Which item is #${id} a duplicate of?`, Original))
        : undefined,
    )
    .endStep(async ({ id }, { resolution, original }) => {
      const item = resolution
        ? await world.items.resolve(id, resolution.resolution, original?.original)
        : await world.items.setState(id, 'Active');
      return textResult(describeItem(item));
    })
    .build();
