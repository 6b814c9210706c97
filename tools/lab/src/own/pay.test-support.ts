import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const paid: number[] = [];
const server = () => {
  const made = new McpServer({ name: 'shop', version: '1.0.0' });
  made.registerTool(
    'pay',
    { description: 'Pays', inputSchema: z.object({ amount: z.number() }) },
    async ({ amount }, ctx) => {
      paid.push(amount);
      const answer = acceptedContent<{ sure: boolean }>(ctx.mcpReq.inputResponses, 'sure');
      if (!answer)
        return inputRequired({
          inputRequests: {
            sure: inputRequired.elicit({
              message: `Pay ${amount}?`,
              requestedSchema: {
                type: 'object',
                properties: { sure: { type: 'boolean' } },
                required: ['sure'],
              },
            }),
          },
        });
      return { content: [{ type: 'text', text: `Paid ${paid.length} times` }] };
    },
  );
  return made;
};
serveStdio(server);
