import {
  cannotResolve,
  describeItem,
  Original,
  Resolution,
  type ResolveWorkItem,
  resolveWorkItemTool,
  type World,
} from '@mrtr/comparison';
import { CannotAsk, cancelledResult, elicitation, isRefusal, textResult } from '@mrtr/core';
import { argument, outcome, requestContext, resolve, resolver } from '@mrtr/shapes/resolve';

const item = { id: argument<number>() };
const state = argument<ResolveWorkItem['state']>();

const resolution = resolver('resolution', { ...item, state, ctx: requestContext() }, ({ id, state, ctx }) => {
  if (state === 'Active') return undefined;
  if (!ctx.canAsk('elicitation')) throw new CannotAsk(cannotResolve(id));
  return elicitation(`How was #${id} resolved?`, Resolution);
});

const original = resolver('original', { ...item, resolution }, ({ id, resolution }) =>
  resolution?.resolution === 'Duplicate'
    ? elicitation(`Which item is #${id} a duplicate of?`, Original)
    : undefined,
);

export const resolveWorkItem = (world: World) =>
  resolve(
    resolveWorkItemTool.inputSchema,
    { resolution: outcome(resolution), original: outcome(original) },
    async ({ id, resolution, original }) => {
      if (isRefusal(resolution)) return cancelledResult('resolution');
      if (isRefusal(original)) return cancelledResult('original');
      const changed = resolution.value
        ? await world.items.resolve(id, resolution.value.resolution, original.value?.original)
        : await world.items.setState(id, 'Active');
      return textResult(describeItem(changed));
    },
  );
