// LangChain's MCP adapters: their tools, as an agent calls them. They have no callback for questions.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { CALL, drive } from './driver.mjs';

drive(async (target) => {
  const server = target.url ? { transport: 'http', url: target.url } : { transport: 'stdio', ...target };
  const client = new MultiServerMCPClient({ mcpServers: { ours: server } });
  const tools = await client.getTools();
  return tools.find(({ name }) => name.endsWith(CALL.name)).invoke(CALL.arguments);
});
