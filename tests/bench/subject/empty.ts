/** The least work for a server that asks the same questions: prepared questions, no state, no checks. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { GET_WEATHER, getWeatherTool, Units } from '@mrtr/example-tools';

const units = inputRequired.elicit({ message: 'Which units?', requestedSchema: Units });
const done = { content: [{ type: 'text' as const, text: 'Done.' }] };

/** A new server. */
export function empty(): McpServer {
  const server = new McpServer({ name: 'empty', version: '0.0.0' });
  server.registerTool(GET_WEATHER, getWeatherTool, async (_args, { mcpReq }) =>
    mcpReq.inputResponses ? done : inputRequired({ inputRequests: { units } }),
  );
  return server;
}
