// A tool on Mastra's server that asks its user: over stdio, or over HTTP at PORT.
import { createServer } from 'node:http';
import { createTool } from '@mastra/core/tools';
import { MCPServer } from '@mastra/mcp';
import { z } from 'zod';

const get_weather = createTool({
  id: 'get_weather',
  description: 'The weather in one place.',
  inputSchema: z.object({ location: z.string() }),
  suspendSchema: z.object({ message: z.string() }),
  resumeSchema: z.object({ units: z.enum(['metric', 'imperial']) }),
  execute: async ({ location }, { resumeData, suspend }) => {
    if (!resumeData) return suspend({ message: 'Which units?' });
    return `Weather in ${location}: ${resumeData.units === 'metric' ? '22°C' : '72°F'}, partly cloudy.`;
  },
});
const server = new MCPServer({ id: 'mastra', name: 'mastra', version: '1.0.0', tools: { get_weather } });
const { PORT } = process.env;
if (PORT === undefined) await server.startStdio();
else {
  const url = (req) => new URL(req.url, `http://127.0.0.1:${PORT}`);
  createServer((req, res) => server.startHTTP({ url: url(req), httpPath: '/mcp', req, res })).listen(
    Number(PORT),
    '127.0.0.1',
  );
}
