import {
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
  askLive,
  cancelledResult,
  elicitation,
  isRefusal,
  readAnswer,
  readState,
  type ServerContext,
  textResult,
} from '@mrtr/core';

const how = (id: number) => elicitation(`How was #${id} resolved?`, Resolution);
const which = (id: number) => elicitation(`Which item is #${id} a duplicate of?`, Original);

export const resolveWorkItem = (world: World) => ({
  async modern({ id, state }: ResolveWorkItem, ctx: ServerContext) {
    if (state === 'Active') return textResult(describeItem(await world.items.setState(id, state)));

    const resolution = rememberedResolution(ctx) ?? readAnswer(ctx, 'resolution', how(id));
    if (isRefusal(resolution)) return cancelledResult('resolution');
    if (resolution.kind !== 'accepted') return ask({ resolution: how(id) });

    const kind = resolution.value.resolution;
    if (kind !== 'Duplicate') return textResult(describeItem(await world.items.resolve(id, kind)));

    const original = readAnswer(ctx, 'original', which(id));
    if (isRefusal(original)) return cancelledResult('original');
    if (original.kind !== 'accepted') {
      return ask({ original: which(id) }, { state: resolution.value });
    }
    return textResult(describeItem(await world.items.resolve(id, kind, original.value.original)));
  },

  async legacy({ id, state }: ResolveWorkItem, ctx: ServerContext) {
    if (state === 'Active') return textResult(describeItem(await world.items.setState(id, state)));

    const resolution = await askLive(ctx, 'resolution', how(id));
    if (isRefusal(resolution)) return cancelledResult('resolution');
    const kind = resolution.value.resolution;
    if (kind !== 'Duplicate') return textResult(describeItem(await world.items.resolve(id, kind)));

    const original = await askLive(ctx, 'original', which(id));
    if (isRefusal(original)) return cancelledResult('original');
    return textResult(describeItem(await world.items.resolve(id, kind, original.value.original)));
  },
});

function rememberedResolution(ctx: ServerContext): Answer<{ resolution: ResolutionKind }> | undefined {
  const value = readState(ctx, Resolution);
  return value && { kind: 'accepted', value };
}
