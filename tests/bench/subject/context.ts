/** A request's context as the boundary hands it to a shape, as far as the shapes look at it. */
import type { ServerContext } from '@modelcontextprotocol/server';
import { withCall } from '@mrtr/core';

/** What differs between requests. */
export interface Round {
  readonly round: number;
  readonly state?: string | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
}

/** The context of one request of a modern client that can be asked. */
export function contextOf({ round, state, inputResponses }: Round): ServerContext {
  const mcpReq = {
    method: 'tools/call',
    signal: new AbortController().signal,
    envelope: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } },
    inputResponses,
    requestState: () => state,
  };
  return withCall({ mcpReq } as unknown as ServerContext, {
    method: 'tools/call',
    target: 'ask',
    revision: '2026-07-28',
    legacyCapabilities: undefined,
    legacy: 'degrade',
    principal: undefined,
    round,
    tokenId: undefined,
    maxRounds: 100,
    maxQuestions: 100,
    maxStateBytes: 65_536,
  });
}
