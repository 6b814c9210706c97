// The MCP servers of OpenAI's Agents SDK. They have no callback for questions.
import { MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents';
import { CALL, drive } from './driver.mjs';

drive(async (target) => {
  const server = target.url ? new MCPServerStreamableHttp({ url: target.url }) : new MCPServerStdio(target);
  await server.connect();
  return server.callTool(CALL.name, CALL.arguments);
});
