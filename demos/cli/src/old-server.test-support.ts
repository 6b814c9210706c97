/** A program: a server on the v1 SDK, over stdio, with one tool that asks. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'old-server', version: '0.0.0' });
server.registerTool('deploy', {}, async () => {
  const { action } = await server.server.elicitInput({
    message: 'Deploy?',
    requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } },
  });
  return { content: [{ type: 'text', text: action === 'accept' ? 'Deployed.' : 'Left alone.' }] };
});
await server.connect(new StdioServerTransport());
