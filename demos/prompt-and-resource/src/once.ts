/**
 * Shape F: a prompt and a resource that ask. Both are entered in each round, and return their question until its
 * answer is there; `once` keeps what stands above the question to one round. Just as for a tool, but for the end: the
 * result of a prompt or a resource has no room for "Cancelled.", so a user who says no ends it with a JSON-RPC error.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import {
  canAsk,
  elicitation,
  isRefusal,
  type McpServer,
  protectedServer,
  type RequestStatePolicy,
} from '@mrtr/core';
import { once } from '@mrtr/shapes/once';
import { Currency, DEFAULT_CURRENCY, quarterly, queryFigures, report } from './quarterly-report.ts';
import { Audience, DEFAULT_AUDIENCE, draft, releaseNotes } from './release-notes.ts';

const audience = elicitation('Who will read them?', Audience);
const currency = elicitation('In which currency?', Currency);

/** A new server with the prompt and the resource. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, policy);

  server.registerPrompt(
    'release_notes',
    releaseNotes,
    once(async ({ version }, ctx) => {
      if (!canAsk(ctx, 'elicitation')) return draft(version, DEFAULT_AUDIENCE);

      const answer = ctx.answer('audience', audience);
      if (isRefusal(answer)) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Cancelled.');
      if (answer.kind !== 'accepted') return ctx.ask({ audience });
      return draft(version, answer.value);
    }),
  );

  server.registerResource(
    'quarterly',
    'report://quarterly',
    quarterly,
    once(async (uri, ctx) => {
      // The figures of the moment in which the report is opened. They travel to the second round in requestState.
      const figures = await ctx.once('figures', queryFigures);
      if (!canAsk(ctx, 'elicitation')) return report(uri, figures, DEFAULT_CURRENCY);

      const answer = ctx.answer('currency', currency);
      if (isRefusal(answer)) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Cancelled.');
      if (answer.kind !== 'accepted') return ctx.ask({ currency });
      return report(uri, figures, answer.value);
    }),
  );

  return server;
}
