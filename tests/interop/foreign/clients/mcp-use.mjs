// mcp-use's client.
import { MCPClient } from 'mcp-use/client';
import { CALL, drive } from './driver.mjs';

drive(async (target, answer) => {
  const client = new MCPClient({ mcpServers: { ours: target } }, { onElicitation: answer });
  const session = await client.createSession('ours');
  return session.callTool(CALL.name, CALL.arguments);
});
