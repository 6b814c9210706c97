/**
 * Shape I: a prompt and a resource that declare the answers they need. A resolver fills each parameter, with a value or
 * with the answer to a question. The body is entered once, when all of them are filled. Here the body takes the plain
 * value, so a refusal ends the call before it. A prompt or a resource then ends with a JSON-RPC error.
 */
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { resolve, resolveResource, resolver } from '@mrtr/shapes/resolve';
import { quarterly, queryFigures, report, whichCurrency } from './quarterly-report.ts';
import { draft, releaseNotes, whichAudience } from './release-notes.ts';

// Written once, for any number of prompts, resources and tools.
const audience = resolver('audience', {}, () => whichAudience);
const currency = resolver('currency', {}, () => whichCurrency);

/** A new server with the prompt and the resource. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, policy);

  server.registerPrompt(
    'release_notes',
    releaseNotes,
    resolve(releaseNotes.argsSchema, { audience }, ({ version, audience }) => draft(version, audience)),
  );

  server.registerResource(
    'quarterly',
    'report://quarterly',
    quarterly,
    // The figures at the time of the answer: the body does not run before.
    resolveResource({ currency }, async ({ uri, currency }) => report(uri, await queryFigures(), currency)),
  );

  return server;
}
