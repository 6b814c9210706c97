/**
 * Shape I: a prompt and a resource that declare what they need to be asked for. A resolver fills the parameter, with
 * a value or a question; the body is entered once, with everything in its hands. Where the body takes the plain value,
 * as here, a user who says no ends the call before it: for a prompt or a resource, with a JSON-RPC error.
 */
import { canAsk, type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { elicit, injected, injectedResource, requestContext, resolver } from '@mrtr/shapes/resolve';
import { Currency, DEFAULT_CURRENCY, quarterly, queryFigures, report } from './quarterly-report.ts';
import { Audience, DEFAULT_AUDIENCE, draft, releaseNotes } from './release-notes.ts';

// Written once, for any number of prompts, resources and tools.
const audience = resolver('audience', { ctx: requestContext() }, ({ ctx }) =>
  canAsk(ctx, 'elicitation') ? elicit('Who will read them?', Audience) : DEFAULT_AUDIENCE,
);
const currency = resolver('currency', { ctx: requestContext() }, ({ ctx }) =>
  canAsk(ctx, 'elicitation') ? elicit('In which currency?', Currency) : DEFAULT_CURRENCY,
);

/** A new server with the prompt and the resource. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, policy);

  server.registerPrompt(
    'release_notes',
    releaseNotes,
    injected(releaseNotes.argsSchema, { audience }, ({ version, audience }) => draft(version, audience)),
  );

  server.registerResource(
    'quarterly',
    'report://quarterly',
    quarterly,
    // The figures of the moment in which the user has answered: the body runs then, and not before.
    injectedResource({ currency }, async ({ uri, currency }) => report(uri, await queryFigures(), currency)),
  );

  return server;
}
