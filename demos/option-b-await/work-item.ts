import {
  cannotResolve,
  describeItem,
  Original,
  Resolution,
  type ResolveWorkItem,
  type World,
} from '@mrtr/comparison';
import { errorResult, textResult } from '@mrtr/core';
import type { AwaitShimContext } from './await-shim.ts';

export const resolveWorkItem =
  (world: World) =>
  async ({ id, state }: ResolveWorkItem, ctx: AwaitShimContext) => {
    if (state === 'Active') return textResult(describeItem(await world.items.setState(id, state)));
    if (!ctx.canAsk('elicitation')) return errorResult(cannotResolve(id));

    const { resolution } = await ctx.elicit(`How was #${id} resolved?`, Resolution);
    if (resolution !== 'Duplicate')
      return textResult(describeItem(await world.items.resolve(id, resolution)));

    const { original } = await ctx.elicit(`Which item is #${id} a duplicate of?`, Original);
    return textResult(describeItem(await world.items.resolve(id, resolution, original)));
  };
