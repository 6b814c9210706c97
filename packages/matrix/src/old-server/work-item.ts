import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describeItem, Original, Resolution, type ResolveWorkItem, type World } from '@mrtr/example-tools';
import type { Ask, Extra } from './ask-user.ts';
import { cancellationResult, text } from './results.ts';

export const resolveWorkItem =
  (world: World, ask: Ask) =>
  async ({ id, state }: ResolveWorkItem, extra: Extra): Promise<CallToolResult> => {
    if (state === 'Active') return text(describeItem(await world.items.setState(id, state)));
    const how = await ask(`How was #${id} resolved?`, Resolution, extra);
    if (!how) return cancellationResult('resolution');
    if (how.resolution !== 'Duplicate')
      return text(describeItem(await world.items.resolve(id, how.resolution)));

    const which = await ask(`Which item is #${id} a duplicate of?`, Original, extra);
    if (!which) return cancellationResult('original');
    return text(describeItem(await world.items.resolve(id, how.resolution, which.original)));
  };
