/**
 * Shape F: a prompt and a resource that ask. Each round enters them, and they return their question until its answer is
 * there. `once` runs the query above the question in one round only. Only the end differs from a tool: the result of a
 * prompt or a resource has no room for "Cancelled: …", so a refusal ends it with a JSON-RPC error.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { ask, isRefusal, type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { once } from '@mrtr/shapes/once';
import { quarterly, queryFigures, report, whichCurrency } from './quarterly-report.ts';
import { draft, releaseNotes, whichAudience } from './release-notes.ts';

/** A new server with the prompt and the resource. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, policy);

  server.registerPrompt(
    'release_notes',
    releaseNotes,
    once(async ({ version }, ctx) => {
      const answer = ctx.answer('audience', whichAudience);
      if (isRefusal(answer))
        throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Nobody said who will read them.');
      if (answer.kind !== 'accepted') return ask({ audience: whichAudience });
      return draft(version, answer.value);
    }),
  );

  server.registerResource(
    'quarterly',
    'report://quarterly',
    quarterly,
    once(async (uri, ctx) => {
      // The figures at the time of opening the report. They travel to the second round in requestState.
      const figures = await ctx.once('figures', queryFigures);

      const answer = ctx.answer('currency', whichCurrency);
      if (isRefusal(answer))
        throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Nobody said in which currency.');
      if (answer.kind !== 'accepted') return ask({ currency: whichCurrency });
      return report(uri, figures, answer.value);
    }),
  );

  return server;
}
