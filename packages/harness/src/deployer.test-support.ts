/** A server on the SDK alone. Its tool asks one question, and publishes diagnostics by hand. */
import { channel } from 'node:diagnostics_channel';
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ConversationRequest } from './conversations/conversation.ts';
import { recordEffect } from './recording/recorder.ts';

const Sure = z.object({ sure: z.boolean() });

/** A server whose tool deploys if the user is sure. Its request state is a plain text. */
export function deployer(): McpServer {
  const server = new McpServer({ name: 'deployer', version: '1.0.0' });
  server.registerTool('deploy', { inputSchema: z.object({ env: z.string() }) }, ({ env }, ctx) => {
    channel('mrtr:handler').publish({ target: 'deploy', part: 'step', name: 'sure' });
    const answer = ctx.mcpReq.inputResponses?.sure as { action: string; content?: unknown } | undefined;
    const sure = Sure.safeParse(answer?.content);
    if (answer && answer.action !== 'accept') return { content: [{ type: 'text', text: 'Cancelled.' }] };
    if (!sure.success) {
      channel('mrtr:state').publish({ phase: 'sealed', bytes: 5 });
      const sure = inputRequired.elicit({ message: `Deploy to ${env}?`, requestedSchema: Sure });
      return inputRequired({ inputRequests: { sure }, requestState: 'state' });
    }
    channel('mrtr:effect').publish({ key: 'deploy', phase: 'ran' });
    recordEffect('deploy', env);
    const { sub } = ctx.http?.authInfo?.extra ?? {};
    const deployed = `${sub === undefined ? 'Deployed' : `${sub} deployed`} to ${env}.`;
    return { content: [{ type: 'text', text: sure.data.sure ? deployed : 'Left alone.' }] };
  });
  return server;
}

export const CALL: Pick<ConversationRequest, 'client' | 'call'> = {
  client: 'modern',
  call: { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'staging' } } },
};
