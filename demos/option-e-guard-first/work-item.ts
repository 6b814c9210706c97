import {
  cannotResolve,
  describeItem,
  Original,
  Resolution,
  type ResolutionKind,
  type ResolveWorkItem,
  type World,
} from '@mrtr/comparison';
import {
  type Answer,
  ask,
  canAsk,
  cancelledResult,
  elicitation,
  errorResult,
  isRefusal,
  readAnswer,
  readState,
  type ServerContext,
  textResult,
} from '@mrtr/core';

export const resolveWorkItem =
  (world: World) =>
  async ({ id, state }: ResolveWorkItem, ctx: ServerContext) => {
    if (state === 'Active') return textResult(describeItem(await world.items.setState(id, state)));
    if (!canAsk(ctx, 'elicitation')) return errorResult(cannotResolve(id));

    const how = elicitation(`How was #${id} resolved?`, Resolution);
    const resolution = rememberedResolution(ctx) ?? readAnswer(ctx, 'resolution', how);
    if (isRefusal(resolution)) return cancelledResult('resolution');
    if (resolution.kind !== 'accepted') return ask({ resolution: how });

    const kind = resolution.value.resolution;
    if (kind !== 'Duplicate') return textResult(describeItem(await world.items.resolve(id, kind)));

    const which = elicitation(`Which item is #${id} a duplicate of?`, Original);
    const original = readAnswer(ctx, 'original', which);
    if (isRefusal(original)) return cancelledResult('original');
    if (original.kind !== 'accepted') {
      // The next round brings only the second answer, so the state carries the first.
      return ask({ original: which }, { state: resolution.value });
    }
    return textResult(describeItem(await world.items.resolve(id, kind, original.value.original)));
  };

function rememberedResolution(ctx: ServerContext): Answer<{ resolution: ResolutionKind }> | undefined {
  const value = readState(ctx, Resolution);
  return value && { kind: 'accepted', value };
}
