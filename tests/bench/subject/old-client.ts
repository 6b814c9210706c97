/** A published v1 client at 2025-11-25, connected to a server in this process. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpServer } from '@modelcontextprotocol/server';
import { weather } from './call.ts';

/** Connects one; the returned function makes a whole call of the weather tool. */
export async function oldCaller(server: McpServer): Promise<() => Promise<void>> {
  const client = new Client({ name: 'bench', version: '0.0.0' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { units: 'metric' } }));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  // The two SDKs' transports are the same at run time; their types differ in what is optional.
  await server.connect(theirs as unknown as Parameters<McpServer['connect']>[0]);
  await client.connect(ours);
  return async () => {
    const { isError, content } = await client.callTool({
      name: weather.tool,
      arguments: { location: 'Tokyo' },
    });
    if (isError) throw new Error(JSON.stringify(content));
  };
}
