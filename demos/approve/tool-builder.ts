/** Shape G: the approval is the last step before the one that writes. */

import {
  Original,
  RESOLVE_WORK_ITEM,
  Resolution,
  type ResolveWorkItem,
  resolveWorkItemTool,
} from '@mrtr/comparison';
import { elicitation, protectedServer } from '@mrtr/core';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { type CreateServer, changeOf, resultOf } from './tracker.ts';

export const createServer: CreateServer = (policy, askYes, { items }) => {
  const server = protectedServer({ name: 'tracker', version: '1.0.0' }, policy);

  server.registerTool(
    RESOLVE_WORK_ITEM,
    resolveWorkItemTool,
    new ToolBuilder<ResolveWorkItem>()
      .incompleteStep('resolution', ({ id, state }) =>
        state === 'Resolved' ? elicitation(`How was #${id} resolved?`, Resolution) : undefined,
      )
      .incompleteStep('original', ({ id }, { resolution }) =>
        resolution?.resolution === 'Duplicate'
          ? elicitation(`Which item is #${id} a duplicate of?`, Original)
          : undefined,
      )
      .incompleteStep('sure', ({ id }, { resolution, original }, ctx) =>
        askYes(ctx.request, changeOf(id, resolution?.resolution, original?.original), id),
      )
      .endStep(async ({ id }, { resolution, original, sure }) => {
        const item = resolution
          ? await items.resolve(id, resolution.resolution, original?.original)
          : await items.setState(id, 'Active');
        return resultOf(item, sure);
      })
      .build(),
  );

  return server;
};
