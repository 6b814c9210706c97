// Mastra's MCP client: its tools, as an agent calls them.
import { MCPClient } from '@mastra/mcp';
import { CALL, drive } from './driver.mjs';

drive(async (target, answer) => {
  const server = { ...target, ...(target.url && { url: new URL(target.url) }), stderr: 'ignore' };
  const client = new MCPClient({ servers: { ours: { ...server, inputRequests: answer } } });
  const tools = await client.listTools();
  return tools[`ours_${CALL.name}`].execute(CALL.arguments, {});
});
