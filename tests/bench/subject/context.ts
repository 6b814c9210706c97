/** A request's context as a shape gets it from the boundary, with the parts that shapes read. */
import { createMcpHandler, type ServerContext } from '@modelcontextprotocol/server';
import { protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import { type Call, callOf } from '@mrtr/core/shape';
import { z } from 'zod';
import { call, inProcess } from './call.ts';

/** The parts that differ between requests. */
export interface Round {
  readonly round: number;
  readonly state?: string | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  /** The questions of the round before, as key → digest. */
  readonly asked?: Call['asked'];
  /** The call's id. */
  readonly id?: string;
}

const policy = requestStatePolicy({
  keys: ['a key of at least thirty-two bytes'],
  singleUse: false,
  legacy: 'degrade',
  maxRounds: 100,
  maxQuestions: 100,
});

/** A context that a protected server gave to a handler, because only the boundary makes a call's record. */
async function given(): Promise<ServerContext> {
  let context: ServerContext | undefined;
  const exchange = inProcess(
    createMcpHandler(() => {
      const server = protectedServer({ name: 'bench', version: '0.0.0' }, policy);
      server.registerTool('ask', { inputSchema: z.object({}) }, async (_args, ctx) => {
        context = ctx;
        return textResult('Done.');
      });
      return server;
    }),
  );
  await call(exchange, { tool: 'ask', arguments: () => ({}), answers: {} });
  if (!context) throw new Error('No handler was entered.');
  return context;
}

const original = await given();
const record = callOf(original);
// The boundary keeps the record under the only symbol of a context.
const [RECORD] = Object.getOwnPropertySymbols(original) as [symbol];
const NOTHING: Call['asked'] = new Map();

/** The context of one request of a modern client that can be asked. */
export function contextOf({ round, state, inputResponses, asked = NOTHING, id = record.id }: Round) {
  const mcpReq = {
    method: 'tools/call',
    signal: new AbortController().signal,
    envelope: original.mcpReq.envelope,
    inputResponses,
    requestState: () => state,
  };
  return { mcpReq, [RECORD]: { ...record, id, round, asked } } as unknown as ServerContext;
}
