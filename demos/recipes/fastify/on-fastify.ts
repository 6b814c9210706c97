/** In a fastify application, beside its other routes. */
import Fastify from 'fastify';
import { mcp } from '../mount.ts';

export const app = Fastify();

app.all('/mcp', async (request, reply) => {
  reply.hijack(); // the mount writes the response; fastify has read the body, and its limit is 1 MiB
  await mcp.handle(request.raw, reply.raw, request.body);
});
app.register(async (pages) => {
  pages.removeAllContentTypeParsers(); // the mount reads the forms of pages itself
  pages.addContentTypeParser('*', (_request, _payload, done) => done(null));
  pages.all('/approve/*', async (request, reply) => {
    reply.hijack();
    await mcp.handlePages(request.raw, reply.raw);
  });
});
app.get('/readyz', async (_request, reply) => reply.code((await mcp.isReady()) ? 200 : 503).send());
app.get('/', async () => 'Not MCP.');
app.addHook('preClose', () => mcp.close());
