// Strands' MCP client. On stdio it takes a transport of the v1 SDK.

import { McpClient } from '@strands-agents/sdk';
import { StdioClientTransport } from 'sdk-1.32/client/stdio.js';
import { CALL, drive } from './driver.mjs';

drive(async (target, answer) => {
  const transport = !target.url && new StdioClientTransport({ ...target, stderr: 'ignore' });
  const client = new McpClient({ ...(transport ? { transport } : target), elicitationCallback: answer });
  await client.connect();
  const tools = await client.listTools();
  return client.callTool(
    tools.find(({ name }) => name === CALL.name),
    CALL.arguments,
  );
});
