/** Users who log in, in a fastify application. The mount reads the caller from `request.raw`: it never sees `request`. */
import Fastify from 'fastify';
import { mcp, signIn } from '../signed-in.ts';

export const app = Fastify();

app.all('/mcp', async (request, reply) => {
  const { authorization = '' } = request.headers;
  const caller = await signIn(new Request('http://localhost', { headers: { authorization } }));
  if (caller instanceof Response) return reply.send(caller);
  await mcp.handle(Object.assign(request.raw, { auth: caller }), reply.hijack().raw, request.body);
});
app.addHook('preClose', () => mcp.close());
