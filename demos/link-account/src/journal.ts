/** Shape J: the page is a question like any other. Below it the user has finished there. */
import { type McpServer, protectedServer, type RequestStatePolicy, textResult } from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { AGENDA, type Calendars, LINK } from './agenda.ts';

/** A new server with the tool. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy, { link, eventsOf }: Calendars): McpServer {
  const server = protectedServer({ name: 'agenda', version: '1.0.0' }, policy);

  server.registerTool(
    'agenda',
    AGENDA,
    journal(async (_input, ctx) => {
      const { account } = await ctx.ask('link', await link.question(ctx.request, LINK));
      return textResult(await ctx.once('events', () => eventsOf(account)));
    }),
  );

  return server;
}
