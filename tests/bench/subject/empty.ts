/** The least work for a server that asks the same questions: prepared questions, no state, no checks. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import {
  GET_WEATHER,
  getWeatherTool,
  Original,
  RESOLVE_WORK_ITEM,
  Resolution,
  resolveWorkItemTool,
  Units,
} from '@mrtr/example-tools';

const units = inputRequired.elicit({ message: 'Which units?', requestedSchema: Units });
const resolution = inputRequired.elicit({ message: 'How was it resolved?', requestedSchema: Resolution });
const original = inputRequired.elicit({
  message: 'Which item is it a duplicate of?',
  requestedSchema: Original,
});
const done = { content: [{ type: 'text' as const, text: 'Done.' }] };

/** A new server. */
export function empty(): McpServer {
  const server = new McpServer({ name: 'empty', version: '0.0.0' });
  server.registerTool(GET_WEATHER, getWeatherTool, async (_args, { mcpReq }) =>
    mcpReq.inputResponses ? done : inputRequired({ inputRequests: { units } }),
  );
  server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, async (_args, { mcpReq }) => {
    if (!mcpReq.inputResponses) return inputRequired({ inputRequests: { resolution } });
    return 'original' in mcpReq.inputResponses ? done : inputRequired({ inputRequests: { original } });
  });
  return server;
}
