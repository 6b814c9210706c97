/** Shape G: the page is a step. Its data is what came of it, and the end step runs once. */
import { type McpServer, protectedServer, type RequestStatePolicy, textResult } from '@mrtr/core';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { AGENDA, type Calendars, LINK } from './agenda.ts';

/** A new server with the tool. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy, { link, eventsOf }: Calendars): McpServer {
  const server = protectedServer({ name: 'agenda', version: '1.0.0' }, policy);

  server.registerTool(
    'agenda',
    AGENDA,
    new ToolBuilder<object>()
      .incompleteStep('link', (_input, _data, ctx) => link.question(ctx.request, LINK))
      .endStep(async (_input, { link: { account } }) => textResult(await eventsOf(account)))
      .build(),
  );

  return server;
}
