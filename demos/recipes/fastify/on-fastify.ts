/** In a fastify application, beside its other routes. */
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import Fastify from 'fastify';
import { handler } from '../src/mcp-handler.ts';

export const app = Fastify();

const serve = toNodeHandler(handler, { onerror: (error) => app.log.error(error) });
// Without them, a page of another site that a browser shows can call a server on this machine (DNS rebinding).
const [isHost, isOrigin] = [localhostHostValidation(), localhostOriginValidation()];

app.all('/mcp', async (request, reply) => {
  reply.hijack(); // the handler writes the response; fastify has read the body, and its limit is 1 MiB
  if (isHost(request.raw, reply.raw) && isOrigin(request.raw, reply.raw)) {
    await serve(request.raw, reply.raw, request.body);
  }
});
app.get('/', async () => 'Not MCP.');
