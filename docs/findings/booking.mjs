// bookDelivery of the migration guide to @mastra/mcp 2.0, served over HTTP: node booking.mjs PORT
import { createServer } from 'node:http';
import { createTool } from '@mastra/core/tools';
import { MCPServer } from '@mastra/mcp';
import * as z from 'zod';

const bookDelivery = createTool({
  id: 'bookDelivery',
  description: 'Books a delivery.',
  inputSchema: z.object({ orderId: z.string() }),
  outputSchema: z.object({ confirmed: z.boolean() }),
  suspendSchema: z.object({ phase: z.literal('address'), message: z.string() }),
  resumeSchema: z.object({ address: z.string() }),
  execute: async (_, context) => {
    if (context.resumeData) return { confirmed: true };
    return context.suspend?.({ phase: 'address', message: 'Delivery address?' });
  },
});

const server = new MCPServer({ name: 'booking', version: '2.0.0', tools: { bookDelivery } });
createServer((req, res) => {
  const url = new URL(req.url ?? '/', `http://${req.headers.host}`);
  void server.startHTTP({ url, httpPath: '/mcp', req, res });
}).listen(Number(process.argv[2]), '127.0.0.1');
