// The Vercel AI SDK's MCP client: its tools, as an agent calls them.
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
import { CALL, drive } from './driver.mjs';

drive(async (target, answer) => {
  const transport = target.url
    ? { type: 'http', url: target.url }
    : new Experimental_StdioMCPTransport({ ...target, stderr: 'ignore' });
  const client = await createMCPClient({ transport, capabilities: { elicitation: {} } });
  client.onElicitationRequest(ElicitationRequestSchema, answer);
  const tools = await client.tools();
  return tools[CALL.name].execute(CALL.arguments, { toolCallId: '1', messages: [] });
});
