/** Shape J: code below the approval runs only after a yes. The receipt's assurance says what the yes proves. */

import {
  Original,
  RESOLVE_WORK_ITEM,
  Resolution,
  type ResolveWorkItem,
  resolveWorkItemTool,
} from '@mrtr/comparison';
import { elicitation, protectedServer } from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { type CreateServer, changeOf, resultOf } from './tracker.ts';

export const createServer: CreateServer = (policy, askYes, { items }) => {
  const server = protectedServer({ name: 'tracker', version: '1.0.0' }, policy);

  server.registerTool(
    RESOLVE_WORK_ITEM,
    resolveWorkItemTool,
    journal(async ({ id, state }: ResolveWorkItem, ctx) => {
      if (state === 'Active') {
        const sure = await ctx.ask('sure', await askYes(ctx.request, changeOf(id), id));
        return resultOf(await items.setState(id, state), sure);
      }
      const { resolution } = await ctx.ask('resolution', elicitation(`How was #${id} resolved?`, Resolution));
      const { original } =
        resolution === 'Duplicate'
          ? await ctx.ask('original', elicitation(`Which item is #${id} a duplicate of?`, Original))
          : {};
      const sure = await ctx.ask('sure', await askYes(ctx.request, changeOf(id, resolution, original), id));
      return resultOf(await items.resolve(id, resolution, original), sure);
    }),
  );

  return server;
};
