/**
 * Shape H: a prompt and a resource that ask, and really wait. Each is entered once; while the user thinks, it stands
 * at its `await`, in the memory of this instance. A user who says no makes that `await` throw; left alone, this ends
 * the call as its method has it: a tool says "Cancelled.", a prompt or a resource ends with a JSON-RPC error.
 */
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { type ContinuationStore, linear } from '@mrtr/shapes/linear';
import { Currency, DEFAULT_CURRENCY, quarterly, queryFigures, report } from './quarterly-report.ts';
import { Audience, DEFAULT_AUDIENCE, draft, releaseNotes } from './release-notes.ts';

/**
 * A new server with the prompt and the resource. On stateless hosting this is called for every request, so what waits
 * is kept in a store that outlives them: one for both, since it holds handlers and knows nothing of methods.
 */
export function createServer(policy: RequestStatePolicy, store: ContinuationStore): McpServer {
  const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, policy);

  server.registerPrompt(
    'release_notes',
    releaseNotes,
    linear(
      async ({ version }, ctx) => {
        if (!ctx.canAsk('elicitation')) return draft(version, DEFAULT_AUDIENCE);
        return draft(version, await ctx.elicit('Who will read them?', Audience));
      },
      { store },
    ),
  );

  server.registerResource(
    'quarterly',
    'report://quarterly',
    quarterly,
    linear(
      async (uri, ctx) => {
        // The figures of the moment in which the report is opened: a local variable, held with the rest.
        const figures = await queryFigures();
        if (!ctx.canAsk('elicitation')) return report(uri, figures, DEFAULT_CURRENCY);
        return report(uri, figures, await ctx.elicit('In which currency?', Currency));
      },
      { store },
    ),
  );

  return server;
}
