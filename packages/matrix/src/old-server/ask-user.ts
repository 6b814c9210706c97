/** Asks the user as servers did at 2025-11-25: with a request over the stream that the call holds open. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type ElicitRequestFormParams,
  type ElicitResult,
  ErrorCode,
  McpError,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export type Ask = <Schema extends z.ZodObject>(
  message: string,
  schema: Schema,
  extra: Extra,
) => Promise<z.infer<Schema> | undefined>;

const MAX_ATTEMPTS = 8;
// By default v1 gives up after 60 s, which is too short for a person.
const HUMAN_PACED_MS = 600_000;

/**
 * Makes the asking function of one connection. After an answer that does not fit, or is empty, it asks again, at most
 * eight times: `elicitInput` throws on the first kind and lets the second through.
 */
export const asking =
  ({ server }: McpServer): Ask =>
  async (message, schema, extra) => {
    const { additionalProperties: _, ...requestedSchema } = z.toJSONSchema(schema);
    const params = { message, requestedSchema } as ElicitRequestFormParams;
    const related = { relatedRequestId: extra.requestId, signal: extra.signal, timeout: HUMAN_PACED_MS };
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const result = await server.elicitInput(params, related).catch(unlessUnfit);
      if (result && result.action !== 'accept') return undefined;
      const { success, data } = schema.safeParse(result?.content);
      if (success) return data;
    }
    throw new Error(`No usable answer to "${message}" in ${MAX_ATTEMPTS} attempts.`);
  };

function unlessUnfit(error: unknown): ElicitResult | undefined {
  if (error instanceof McpError && error.code === ErrorCode.InvalidParams) return undefined;
  throw error;
}
