import {
  cannotResolve,
  describeItem,
  Original,
  Resolution,
  type ResolveWorkItem,
  type World,
} from '@mrtr/comparison';
import { CannotAsk, elicitation, textResult } from '@mrtr/core';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';

export const resolveWorkItem = (world: World) =>
  new ToolBuilder<ResolveWorkItem>()
    .incompleteStep('resolution', ({ id, state }, _data, ctx) => {
      if (state === 'Active') return undefined;
      if (!ctx.canAsk('elicitation')) throw new CannotAsk(cannotResolve(id));
      return elicitation(`How was #${id} resolved?`, Resolution);
    })
    .incompleteStep('original', ({ id }, { resolution }) =>
      resolution?.resolution === 'Duplicate'
        ? elicitation(`Which item is #${id} a duplicate of?`, Original)
        : undefined,
    )
    .endStep(async ({ id }, { resolution, original }) => {
      const item = resolution
        ? await world.items.resolve(id, resolution.resolution, original?.original)
        : await world.items.setState(id, 'Active');
      return textResult(describeItem(item));
    })
    .build();
