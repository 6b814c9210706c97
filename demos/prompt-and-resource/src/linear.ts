/**
 * Shape H: a prompt and a resource that ask, and really wait. Each is entered once; while the user thinks, it stands
 * at its `await`, in the memory of this instance. A user who says no makes that `await` throw. Left alone, this ends
 * the call as its method allows: a tool says "Cancelled: …", a prompt or a resource ends with a JSON-RPC error.
 */
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { type ContinuationStore, linear } from '@mrtr/shapes/linear';
import { quarterly, queryFigures, report, whichCurrency } from './quarterly-report.ts';
import { draft, releaseNotes, whichAudience } from './release-notes.ts';

/**
 * A new server with the prompt and the resource. On stateless hosting this is called for every request, so waiting
 * handlers are kept in a store that outlives them: one for both, since it knows nothing of methods.
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
        // The figures of the moment in which the report is opened: a local variable, held with the rest.
        const figures = await queryFigures();
        return report(uri, figures, await ctx.ask('currency', whichCurrency));
      },
      { store },
    ),
  );

  return server;
}
