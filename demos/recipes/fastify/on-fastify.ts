/** In a fastify application, beside its other routes. */
import Fastify from 'fastify';
import { mcp } from '../mount.ts';

export const app = Fastify();

// The mount writes the response. Fastify has read the body; its limit is 1 MiB.
app.all('/mcp', (request, reply) => mcp.handle(request.raw, reply.hijack().raw, request.body));
app.register(async (pages) => {
  pages.removeAllContentTypeParsers(); // the mount reads the forms of pages itself
  pages.addContentTypeParser('*', (_request, _payload, done) => done(null));
  pages.all('/approve/*', (request, reply) => mcp.handlePages(request.raw, reply.hijack().raw));
});
app.get('/readyz', async (_request, reply) => reply.code((await mcp.isReady()) ? 200 : 503).send());
app.addHook('preClose', () => mcp.close());
