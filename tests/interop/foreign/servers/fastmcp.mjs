// A tool on fastmcp that asks its user: over stdio, or over HTTP at PORT.
import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'fastmcp', version: '1.0.0' });
server.addTool({
  name: 'get_weather',
  description: 'The weather in one place.',
  parameters: z.object({ location: z.string() }),
  execute: async ({ location }, { elicit }) => {
    const { action, content } = await elicit({
      message: 'Which units?',
      requestedSchema: {
        type: 'object',
        properties: { units: { type: 'string', enum: ['metric', 'imperial'] } },
        required: ['units'],
      },
    });
    if (action !== 'accept') return 'Cancelled.';
    return `Weather in ${location}: ${content.units === 'metric' ? '22°C' : '72°F'}, partly cloudy.`;
  },
});
const port = Number(process.env.PORT);
await server.start(
  port
    ? { transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } }
    : { transportType: 'stdio' },
);
