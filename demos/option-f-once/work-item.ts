import {
  cannotResolve,
  describeItem,
  Original,
  Resolution,
  type ResolveWorkItem,
  type World,
} from '@mrtr/comparison';
import { ask, cancelledResult, elicitation, errorResult, isRefusal, textResult } from '@mrtr/core';
import type { OnceContext } from '@mrtr/shapes/once';

export const resolveWorkItem =
  (world: World) =>
  async ({ id, state }: ResolveWorkItem, ctx: OnceContext) => {
    if (state === 'Active') return textResult(describeItem(await world.items.setState(id, state)));
    if (!ctx.canAsk('elicitation')) return errorResult(cannotResolve(id));

    const how = elicitation(`How was #${id} resolved?`, Resolution);
    const resolution = ctx.answer('resolution', how);
    if (isRefusal(resolution)) return cancelledResult('resolution');
    if (resolution.kind !== 'accepted') return ask({ resolution: how });

    const kind = resolution.value.resolution;
    if (kind !== 'Duplicate') return textResult(describeItem(await world.items.resolve(id, kind)));

    const which = elicitation(`Which item is #${id} a duplicate of?`, Original);
    const original = ctx.answer('original', which);
    if (isRefusal(original)) return cancelledResult('original');
    if (original.kind !== 'accepted') return ask({ original: which });
    return textResult(describeItem(await world.items.resolve(id, kind, original.value.original)));
  };
