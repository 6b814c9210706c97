/**
 * Shape H: a prompt and a resource that ask, and really wait. Each is entered once. While the user thinks, it waits at
 * its `await`, in the memory of this instance. If the user refuses, that `await` throws. Uncaught, this ends a tool
 * with "Cancelled: …", and a prompt or a resource with a JSON-RPC error.
 */
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { type ContinuationStore, linear } from '@mrtr/shapes/linear';
import { quarterly, queryFigures, report, whichCurrency } from './quarterly-report.ts';
import { draft, releaseNotes, whichAudience } from './release-notes.ts';

/**
 * A new server with the prompt and the resource. On stateless hosting this is called for every request, so a store that
 * outlives the servers keeps the waiting handlers. One store serves both.
 */
export function createServer(policy: RequestStatePolicy, store: ContinuationStore): McpServer {
  const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, policy);

  server.registerPrompt(
    'release_notes',
    releaseNotes,
    linear(async ({ version }, ctx) => draft(version, await ctx.ask('audience', whichAudience)), { store }),
  );

  server.registerResource(
    'quarterly',
    'report://quarterly',
    quarterly,
    linear(
      async (uri, ctx) => {
        // The figures at the time of opening the report: a local variable that waits with the handler.
        const figures = await queryFigures();
        return report(uri, figures, await ctx.ask('currency', whichCurrency));
      },
      { store },
    ),
  );

  return server;
}
