/** Shape H: the handler waits for the page, and goes on below it when its user has finished there. */
import { type McpServer, protectedServer, type RequestStatePolicy, textResult } from '@mrtr/core';
import { type ContinuationStore, linear } from '@mrtr/shapes/linear';
import { AGENDA, type Calendars, LINK } from './agenda.ts';

/** Makes servers with the tool: on stateless hosting, one for every request. `store` holds the handlers that wait. */
export const createServerOn =
  (store: ContinuationStore) =>
  (policy: RequestStatePolicy, { link, eventsOf }: Calendars): McpServer => {
    const server = protectedServer({ name: 'agenda', version: '1.0.0' }, policy);

    server.registerTool(
      'agenda',
      AGENDA,
      linear(
        async (_input, ctx) => {
          const { account } = await link.ask(ctx, 'link', LINK);
          return textResult(await eventsOf(account));
        },
        { store },
      ),
    );

    return server;
  };
